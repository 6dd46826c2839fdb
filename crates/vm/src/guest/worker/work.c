/* Work by the time that it takes a thread alone: turns of a loop over a small matrix, as many as were measured. */
#include "worker.h"

#include <stddef.h>

#define SIDE 8
/* Trials of a calibration, of which the fastest counts, and how long each takes at least: shorter than a time slice. */
#define TRIALS 100
#define TRIAL_NS UINT64_C(1000000)

static double rate;

/* A turn is a row of the product. */
static void turns(uint64_t count)
{
	static _Thread_local uint64_t a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

	for (uint64_t nth = 0; nth < count; nth++) {
		size_t row = nth % SIDE;

		for (int column = 0; column < SIDE; column++)
			for (int at = 0; at < SIDE; at++)
				c[row][column] += a[row][at] * b[at][column];
		/* Every turn is done. */
		__asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
	}
}

double calibrate(void)
{
	uint64_t count = 1024;

	for (int trial = 0; trial < TRIALS;) {
		uint64_t from_ns = now_ns(), took_ns;
		double found;

		turns(count);
		took_ns = now_ns() - from_ns;
		/* A trial is long beside a look at the clock. */
		if (took_ns < TRIAL_NS) {
			count *= 2;
			continue;
		}
		found = (double)count * 1e3 / (double)took_ns;
		if (found > rate)
			rate = found;
		trial++;
	}
	return rate;
}

void calibrated(double turns_per_us)
{
	rate = turns_per_us;
}

void work_us(double us)
{
	/* What is no whole turn is done with the next work. */
	static _Thread_local double owed;
	double wanted = us * rate + owed;
	uint64_t whole = (uint64_t)wanted;

	owed = wanted - (double)whole;
	turns(whole);
}
