/* Work by the time that it takes a thread alone: turns of a loop over a small matrix, as many as were measured. */
#include "worker.h"

#include <stdbool.h>

#define SIDE 8
/* Trials of a calibration, of which the fastest counts, and how long each takes. */
#define TRIALS 10
#define TRIAL_NS UINT64_C(20000000)

static double rate;

static void turns(uint64_t count)
{
	static _Thread_local uint64_t a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

	for (uint64_t nth = 0; nth < count; nth++) {
		for (int row = 0; row < SIDE; row++)
			for (int column = 0; column < SIDE; column++)
				for (int at = 0; at < SIDE; at++)
					c[row][column] += a[row][at] * b[at][column];
		/* Every turn is done. */
		__asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
	}
}

double calibrate(void)
{
	/* A look at the clock is as rare as every few us. */
	const uint64_t between = 16;

	for (int trial = 0; trial < TRIALS; trial++) {
		uint64_t from_ns = now_ns(), took_ns, done = 0;
		double found;

		do {
			turns(between);
			done += between;
			took_ns = now_ns() - from_ns;
		} while (took_ns < TRIAL_NS);
		found = (double)done * 1e3 / (double)took_ns;
		if (found > rate)
			rate = found;
	}
	return rate;
}

void calibrated(double turns_per_us)
{
	rate = turns_per_us;
}

void work_us(double us)
{
	turns((uint64_t)(us * rate + 0.5));
}
