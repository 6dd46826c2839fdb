/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that run stay within a quantum of instructions of each other. The host may have fewer CPUs than the guest: without this, a CPU
 * would spin for as long as the one that holds its lock is not scheduled, and every count would be of that.
 */
#define _GNU_SOURCE
#include "lines.h"

#include <sched.h>
#include <time.h>

/* A CPU that waits for others this long, or for one that QEMU has stopped for something else, goes on. */
#define PATIENCE_NS 2000000
/* Looks at the others before the clock is read. */
#define QUICK_LOOKS 20

static _Atomic uint64_t impatient;

uint64_t gave_up(void)
{
	return atomic_load(&impatient);
}

static int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static uint64_t slowest(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int at = 0; at < options.nr_cpus; at++)
		if (atomic_load(&cpus[at].runs)) {
			uint64_t progress = atomic_load(&cpus[at].progress);

			least = progress < least ? progress : least;
		}
	return least;
}

/* A CPU has executed a quantum. */
void step(unsigned int vcpu, void *unused)
{
	uint64_t mine = atomic_fetch_add(&cpus[vcpu].progress, options.quantum) + options.quantum;
	int64_t since_ns = 0;

	(void)unused;
	/* It may have begun before anybody watched. */
	atomic_store(&cpus[vcpu].runs, true);
	qemu_plugin_u64_set(ahead, vcpu, qemu_plugin_u64_get(ahead, vcpu) - options.quantum);
	for (unsigned int looks = 0; slowest() + options.quantum < mine; looks++) {
		if (looks == QUICK_LOOKS)
			since_ns = clock_ns();
		if (looks > QUICK_LOOKS && clock_ns() - since_ns > PATIENCE_NS) {
			atomic_fetch_add(&impatient, 1);
			return;
		}
		sched_yield();
	}
}

void goes_idle(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	sleeps(vcpu);
	atomic_store(&cpus[vcpu].runs, false);
}

/* It begins where the others are. */
void goes_on(qemu_plugin_id_t id, unsigned int vcpu)
{
	uint64_t most = 0;

	(void)id;
	for (unsigned int at = 0; at < options.nr_cpus; at++)
		if (at != vcpu && atomic_load(&cpus[at].runs)) {
			uint64_t progress = atomic_load(&cpus[at].progress);

			most = progress > most ? progress : most;
		}
	if (most > atomic_load(&cpus[vcpu].progress))
		atomic_store(&cpus[vcpu].progress, most);
	atomic_store(&cpus[vcpu].runs, true);
}
