/* STREAM by a thread bound to each of the CPUs. */
#define _GNU_SOURCE
#include "stream.h"
#include "worker.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

static pthread_barrier_t together;

struct bound {
	int cpu;
	size_t nth, threads;
};

static void wait_for_all(void)
{
	int error = pthread_barrier_wait(&together);

	if (error && error != PTHREAD_BARRIER_SERIAL_THREAD)
		die(error, "pthread_barrier_wait");
}

static void bind_to(int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int error;

	if (!set)
		die(errno, "CPU_ALLOC");
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	error = pthread_setaffinity_np(pthread_self(), size, set);
	if (error)
		die(error, "CPU %d", cpu);
	CPU_FREE(set);
}

static void *streaming(void *of)
{
	const struct bound *self = of;

	bind_to(self->cpu);
	stream_part(self->nth, self->threads, wait_for_all);
	return NULL;
}

/* Numbers as in 0,2-3; gives how many. */
static size_t cpus_of(const char *list, int *cpus, size_t most)
{
	size_t count = 0;

	for (const char *at = list;; at++) {
		char *end;
		unsigned long from, to;

		errno = 0;
		from = to = strtoul(at, &end, 10);
		if (end != at && *end == '-') {
			at = end + 1;
			to = strtoul(at, &end, 10);
		}
		if (errno || end == at || from > to || to >= most || (*end && *end != ','))
			die(0, "cpus: found %s, expected numbers as in 0,2-3", list);
		for (; from <= to; from++) {
			if (count == most)
				die(0, "cpus: found more than %zu", most);
			cpus[count++] = (int)from;
		}
		at = end;
		if (!*at)
			return count;
	}
}

void stream(struct arguments *all)
{
	static int cpus[8192];
	struct bound *bound;
	pthread_t *running;
	size_t threads;
	int error;

	stream_begin(all);
	threads = cpus_of(text(all, "cpus"), cpus, sizeof(cpus) / sizeof(cpus[0]));
	no_more(all);
	error = pthread_barrier_init(&together, NULL, (unsigned)threads);
	if (error)
		die(error, "pthread_barrier_init");
	bound = zeros(threads * sizeof(*bound));
	running = zeros(threads * sizeof(*running));
	for (size_t nth = 0; nth < threads; nth++) {
		bound[nth] = (struct bound){ .cpu = cpus[nth], .nth = nth, .threads = threads };
		running[nth] = start(streaming, &bound[nth]);
	}
	for (size_t nth = 0; nth < threads; nth++)
		join(running[nth]);
	stream_end();
}
