/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks in the guest's programs. 0 to 15 begin a section on the CPU that executes them; a CPU that goes idle while a program receives
 * begins SECTION_WOKEN. From MARK_SNAPSHOT on, what was counted so far
 * is written out under the rest of the number:
 *
 *	snapshot NUMBER
 *	cpu CPU SECTION KERNEL_INSTRUCTIONS USER_INSTRUCTIONS STORE_WAITS UNSEEN
 *	lines CPU SECTION KIND FROM COUNT
 *	lock CPU SECTION HOW CALLER TAKEN CONTENDED INSTRUCTIONS STALLS SPUN
 */
#include "lines.h"

#include <pthread.h>

/* As the worker numbers them (costs.h). */
#define SECTION_TAKE 2
#define SECTION_WOKEN 5

static const char *const names[KINDS] = { "read", "atomic", "atomic_upgrade", "upgrade", "write" };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What a CPU has executed since its section began counts there. */
static void settle(unsigned int vcpu)
{
	struct cpu *cpu = &cpus[vcpu];
	uint64_t kernel = qemu_plugin_u64_get(kernel_insns, vcpu), user = qemu_plugin_u64_get(user_insns, vcpu);

	cpu->counts[cpu->section].kernel_insns += kernel - cpu->kernel_before;
	cpu->counts[cpu->section].user_insns += user - cpu->user_before;
	cpu->kernel_before = kernel;
	cpu->user_before = user;
}

static void enter(unsigned int vcpu, unsigned int section)
{
	pthread_mutex_lock(&lock);
	settle(vcpu);
	cpus[vcpu].section = section;
	pthread_mutex_unlock(&lock);
}

void sleeps(unsigned int vcpu)
{
	if (cpus[vcpu].section == SECTION_TAKE)
		enter(vcpu, SECTION_WOKEN);
}

static void write_counts(unsigned int vcpu, unsigned int section)
{
	const struct counts *counts = &cpus[vcpu].counts[section];

	if (!counts->kernel_insns && !counts->user_insns)
		return;
	fprintf(options.out, "cpu %u %u %lu %lu %lu %lu\n", vcpu, section, counts->kernel_insns, counts->user_insns,
		counts->store_waits, counts->unseen);
	for (unsigned int kind = 0; kind < KINDS; kind++)
		for (unsigned int from = 0; from < MAX_CPUS; from++)
			if (counts->lines[kind][from])
				fprintf(options.out, "lines %u %u %s %u %lu\n", vcpu, section, names[kind], from,
					counts->lines[kind][from]);
}

void snapshot(unsigned int number)
{
	pthread_mutex_lock(&lock);
	fprintf(options.out, "snapshot %u\n", number);
	for (unsigned int vcpu = 0; vcpu < options.nr_cpus; vcpu++) {
		settle(vcpu);
		for (unsigned int section = 0; section < MAX_SECTIONS; section++)
			write_counts(vcpu, section);
		write_locks(vcpu);
	}
	fflush(options.out);
	pthread_mutex_unlock(&lock);
}

void reached(unsigned int vcpu, void *data)
{
	unsigned int mark = (unsigned int)(uintptr_t)data;

	if (mark < MAX_SECTIONS)
		enter(vcpu, mark);
	else if (mark >= MARK_SNAPSHOT)
		snapshot(mark - MARK_SNAPSHOT);
}
