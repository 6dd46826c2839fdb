/*
 * What single operations of the kernel cost: each is done N times between the first two snapshots and 2 N times between the next two.
 * A mark before and after each system call says whose part it is.
 */
#define _GNU_SOURCE
#include "worker.h"

#include "costs.h"
#include "marks.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void bind_to(pid_t who, int cpu, int other)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (other >= 0)
		CPU_SET(other, &set);
	if (sched_setaffinity(who, sizeof(set), &set))
		die(errno, "sched_setaffinity: CPU %d", cpu);
}

/* A task of the lowest class keeps `cpu` busy, in user mode. */
static pid_t spinner(int cpu)
{
	struct sched_param priority = { 0 };
	pid_t parent = getpid(), forked = fork();

	if (forked < 0)
		die(errno, "fork");
	if (forked)
		return forked;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		die(0, "the parent is gone");
	bind_to(0, cpu, -1);
	if (sched_setscheduler(0, SCHED_IDLE, &priority))
		die(errno, "SCHED_IDLE");
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static const struct operation *named(const char *name)
{
	for (const struct operation *at = operations; at->name; at++)
		if (!strcmp(at->name, name))
			return at;
	die(0, "operation: found %s, which is none", name);
}

static void measure(const struct operation *operation, struct costs *of, uint64_t rounds)
{
	uint64_t warm = rounds / 2 > 100 ? rounds / 2 : 100;

	of->rounds = warm + 3 * rounds;
	operation->begin(of);
	bind_to(0, of->cpu, operation->moves ? of->peer : -1);
	for (uint64_t nth = 0; nth < warm; nth++)
		operation->round(of);
	MARK(MARK_SNAPSHOT);
	for (uint64_t nth = 0; nth < rounds; nth++)
		operation->round(of);
	MARK(MARK_SNAPSHOT + 1);
	for (uint64_t nth = 0; nth < 2 * rounds; nth++)
		operation->round(of);
	MARK(MARK_SNAPSHOT + 2);
	operation->end(of);
}

void costs(struct arguments *all)
{
	const char *name = text(all, "operation"), *target = text(all, "peer_is");
	uint64_t rounds = whole(all, "rounds", 10, 1000000);
	struct costs of = {
		.cpu = (int)whole(all, "cpu", 0, 1023),
		.peer = (int)whole(all, "peer", 0, 1023),
		.bytes = whole(all, "bytes", 1, 65536),
		.batch = whole(all, "batch", 0, 1024),
		.threads = whole(all, "threads", 0, 1),
	};
	/* Both ends wake each other, so both find the other's CPU busy. */
	int cpus[] = { of.cpu, of.peer };
	pid_t spinners[2] = { 0, 0 };

	no_more(all);
	if (strcmp(target, "idle") && strcmp(target, "busy"))
		die(0, "peer_is: found %s, expected idle or busy", target);
	MARK(MARK_WATCH);
	/* Code is translated anew from the next block on that every CPU enters. */
	sleep_ns(50000000);
	for (size_t end = 0; !strcmp(target, "busy") && end < 2; end++)
		spinners[end] = spinner(cpus[end]);
	measure(named(name), &of, rounds);
	for (size_t end = 0; end < 2; end++)
		if (spinners[end] && (kill(spinners[end], SIGKILL) || waitpid(spinners[end], NULL, 0) != spinners[end]))
			die(errno, "a spinner");
	result("rounds", (double)rounds);
}

/* What `execve` of this program ends with. */
void costs_exec(struct arguments *all)
{
	MARK(SECTION_NONE);
	no_more(all);
}
