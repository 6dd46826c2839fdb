/* STREAM's four kernels by a thread bound to each of the CPUs, each with its part of the arrays. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

enum kernel { COPY, SCALE, ADD, TRIAD, KERNELS };

static const struct {
	const char *metric;
	double bytes;
} kernels[KERNELS] = {
	[COPY] = { "copy_mb_per_s", 16 },
	[SCALE] = { "scale_mb_per_s", 16 },
	[ADD] = { "add_mb_per_s", 24 },
	[TRIAD] = { "triad_mb_per_s", 24 },
};

#define SCALAR 3.0

static struct {
	double *a, *b, *c;
	size_t elements;
	uint64_t passes;
	pthread_barrier_t together;
	uint64_t best_ns[KERNELS];
} run;

struct part {
	int cpu;
	bool first;
	size_t from, to;
};

static void once(enum kernel kernel, double *restrict a, double *restrict b, double *restrict c, size_t count)
{
	size_t at;

	switch (kernel) {
	case COPY:
		for (at = 0; at < count; at++)
			c[at] = a[at];
		break;
	case SCALE:
		for (at = 0; at < count; at++)
			b[at] = SCALAR * c[at];
		break;
	case ADD:
		for (at = 0; at < count; at++)
			c[at] = a[at] + b[at];
		break;
	case TRIAD:
		for (at = 0; at < count; at++)
			a[at] = b[at] + SCALAR * c[at];
		break;
	case KERNELS:
		break;
	}
}

static void wait_for_all(void)
{
	int error = pthread_barrier_wait(&run.together);

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
	const struct part *part = of;
	double *a = run.a + part->from, *b = run.b + part->from, *c = run.c + part->from;
	size_t count = part->to - part->from;

	bind_to(part->cpu);
	for (size_t at = 0; at < count; at++) {
		a[at] = 1;
		b[at] = 2;
		c[at] = 0;
	}
	for (uint64_t nth = 0; nth < run.passes; nth++)
		for (enum kernel kernel = COPY; kernel < KERNELS; kernel++) {
			uint64_t from_ns, took_ns;

			wait_for_all();
			from_ns = now_ns();
			once(kernel, a, b, c, count);
			wait_for_all();
			took_ns = now_ns() - from_ns;
			/* The first pass does not count. */
			if (part->first && nth && (nth == 1 || took_ns < run.best_ns[kernel]))
				run.best_ns[kernel] = took_ns;
		}
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

/* Every element has come to the same value, that of one followed by hand. */
static void check(void)
{
	double a = 1, b = 2, c = 0;

	for (uint64_t nth = 0; nth < run.passes; nth++) {
		c = a;
		b = SCALAR * c;
		c = a + b;
		a = b + SCALAR * c;
	}
	for (size_t at = 0; at < run.elements; at++)
		if (run.a[at] != a || run.b[at] != b || run.c[at] != c)
			die(0, "stream: element %zu is wrong", at);
}

void stream(struct arguments *all)
{
	static int cpus[8192];
	size_t mib = whole(all, "array_mib", 1, 1 << 20);
	size_t threads, bytes = mib << 20;
	struct part *parts;
	pthread_t *running;
	int error;

	run.passes = whole(all, "passes", 2, 10000);
	threads = cpus_of(text(all, "cpus"), cpus, sizeof(cpus) / sizeof(cpus[0]));
	no_more(all);
	run.elements = bytes / sizeof(double);
	run.a = zeros(bytes);
	run.b = zeros(bytes);
	run.c = zeros(bytes);
	error = pthread_barrier_init(&run.together, NULL, (unsigned)threads);
	if (error)
		die(error, "pthread_barrier_init");
	parts = zeros(threads * sizeof(*parts));
	running = zeros(threads * sizeof(*running));
	for (size_t nth = 0; nth < threads; nth++) {
		parts[nth].cpu = cpus[nth];
		parts[nth].first = nth == 0;
		parts[nth].from = run.elements * nth / threads;
		parts[nth].to = run.elements * (nth + 1) / threads;
		running[nth] = start(streaming, &parts[nth]);
	}
	for (size_t nth = 0; nth < threads; nth++)
		join(running[nth]);
	check();
	for (enum kernel kernel = COPY; kernel < KERNELS; kernel++) {
		double moved = (double)run.elements * kernels[kernel].bytes;

		if (!run.best_ns[kernel])
			die(0, "stream: a pass took no time");
		result(kernels[kernel].metric, moved / 1e6 / ((double)run.best_ns[kernel] / 1e9));
	}
}
