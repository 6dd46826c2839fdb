/*
 * Fork-join loops and STREAM under libgomp itself, which takes OMP_NUM_THREADS, OMP_SCHEDULE, OMP_PLACES, OMP_PROC_BIND and GOMP_SPINCOUNT
 * from the environment.
 */
#include "fleet.h"
#include "stream.h"

#include <omp.h>

/* One thread: since when it does nothing of a loop, and for how long it has not, in all. */
struct member {
	_Alignas(APART) uint64_t ended_ns, waited_ns;
	struct memory memory;
};

static struct {
	long iterations;
	double us, imbalance;
} bench;

/* Work of an iteration: it rises evenly. */
static double iteration_us(long nth)
{
	double part = bench.iterations > 1 ? (double)nth / (double)(bench.iterations - 1) : 0.5;

	return bench.us * (1 + bench.imbalance * (2 * part - 1));
}

/* A loop; a thread waits from the end of its part to the begin of its next one. */
static void loop(struct member *members)
{
#pragma omp parallel
	{
		struct member *self = &members[omp_get_thread_num()];

		self->waited_ns += now_ns() - self->ended_ns;
#pragma omp for schedule(runtime) nowait
		for (long nth = 0; nth < bench.iterations; nth++)
			work(&self->memory, iteration_us(nth));
		self->ended_ns = now_ns();
	}
}

void parallel(struct arguments *all)
{
	static const char *const percents[] = { "50", "99" };
	uint64_t loops = whole(all, "loops", 1, 10000000), from_ns, to_ns, waited_ns = 0;
	double serial_us;
	struct footprint memory;
	struct times *times = zeros(sizeof(*times));
	int threads = omp_get_max_threads();
	struct member *members = zeros((size_t)threads * sizeof(*members));

	bench.iterations = (long)whole(all, "iterations", 1, 1000000000);
	bench.us = number(all, "iteration_us", 1e-4, 1e7);
	bench.imbalance = number(all, "imbalance", 0, 1);
	serial_us = number(all, "serial_us", 0, 1e7);
	memory = footprint(text(all, "memory"));
	no_more(all);
	calibrate();
	/* The first region makes the threads. */
#pragma omp parallel
	own(&members[omp_get_thread_num()].memory, memory, (uint64_t)omp_get_thread_num());
	from_ns = now_ns();
	for (int nth = 0; nth < threads; nth++)
		members[nth].ended_ns = from_ns;
	for (uint64_t nth = 0; nth < loops; nth++) {
		uint64_t begun_ns, ended_ns;

		if (serial_us > 0)
			work_us(serial_us);
		/* The first thread works meanwhile. */
		members[0].ended_ns = begun_ns = now_ns();
		loop(members);
		ended_ns = now_ns();
		members[0].waited_ns += ended_ns - members[0].ended_ns;
		record(times, ended_ns - begun_ns);
	}
	to_ns = now_ns();
	for (int nth = 0; nth < threads; nth++)
		waited_ns += members[nth].waited_ns + (nth ? to_ns - members[nth].ended_ns : 0);
	result("seconds", (double)(to_ns - from_ns) / 1e9);
	result_times("loop", times, percents, sizeof(percents) / sizeof(percents[0]));
	result("barrier_percent", 100.0 * (double)waited_ns / ((double)threads * (double)(to_ns - from_ns)));
}

static void wait_for_all(void)
{
#pragma omp barrier
}

void free_stream(struct arguments *all)
{
	stream_begin(all);
	no_more(all);
#pragma omp parallel
	stream_part((size_t)omp_get_thread_num(), (size_t)omp_get_num_threads(), wait_for_all);
	stream_end();
}
