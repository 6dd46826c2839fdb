/* Histograms of times. */
#include "worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Below TIMES_FINE a bucket is 1 ns; every octave above is cut into as many. */
static size_t bucket(uint64_t ns)
{
	unsigned octave = 0;
	size_t at;

	while ((ns >> octave) >= 2 * TIMES_FINE)
		octave++;
	at = octave * (size_t)TIMES_FINE + (size_t)(ns >> octave);
	return at < TIMES_OCTAVES * (size_t)TIMES_FINE ? at : TIMES_OCTAVES * (size_t)TIMES_FINE - 1;
}

/* The middle of a bucket. */
static double middle_ns(size_t at)
{
	unsigned octave = at < 2 * TIMES_FINE ? 0 : (unsigned)(at / TIMES_FINE) - 1;
	uint64_t low = (uint64_t)(at - octave * (size_t)TIMES_FINE) << octave;

	return (double)low + (double)((UINT64_C(1) << octave) - 1) / 2;
}

void record(struct times *times, uint64_t ns)
{
	_Atomic uint32_t *in = &times->buckets[bucket(ns)];
	uint64_t sum_ns = atomic_load_explicit(&times->sum_ns, memory_order_relaxed) + ns;
	uint64_t count = atomic_load_explicit(&times->count, memory_order_relaxed) + 1;

	/* Nobody else writes: no locked operation is needed. */
	atomic_store_explicit(in, atomic_load_explicit(in, memory_order_relaxed) + 1, memory_order_relaxed);
	atomic_store_explicit(&times->sum_ns, sum_ns, memory_order_relaxed);
	atomic_store_explicit(&times->count, count, memory_order_relaxed);
}

void merge(struct times *into, const struct times *from)
{
	into->sum_ns += from->sum_ns;
	into->count += from->count;
	for (size_t at = 0; at < TIMES_OCTAVES * (size_t)TIMES_FINE; at++)
		if (from->buckets[at])
			into->buckets[at] += from->buckets[at];
}

/* The time that so many percent do not exceed. */
static double percentile_ns(const struct times *times, double percent)
{
	double rank = percent / 100 * (double)times->count;
	double before = 0;

	for (size_t at = 0; at < TIMES_OCTAVES * (size_t)TIMES_FINE; at++) {
		before += times->buckets[at];
		if (before >= rank && before > 0)
			return middle_ns(at);
	}
	return middle_ns(TIMES_OCTAVES * (size_t)TIMES_FINE - 1);
}

void result_times(const char *name, const struct times *times, const char *const *percents, size_t count)
{
	char full[64];

	if (!times->count)
		die(0, "%s: nothing ended in the measured time", name);
	snprintf(full, sizeof(full), "%s_mean_us", name);
	result(full, (double)times->sum_ns / (double)times->count / 1e3);
	for (size_t nth = 0; nth < count; nth++) {
		snprintf(full, sizeof(full), "%s_p%s_us", name, percents[nth]);
		result(full, percentile_ns(times, strtod(percents[nth], NULL)) / 1e3);
	}
}
