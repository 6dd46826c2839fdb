/* STREAM's four kernels, by threads that each have a part of the arrays. */
#include "stream.h"

#include "worker.h"

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
	uint64_t best_ns[KERNELS];
} run;

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

void stream_begin(struct arguments *all)
{
	size_t bytes = (size_t)whole(all, "array_mib", 1, 1 << 20) << 20;

	run.passes = whole(all, "passes", 2, 10000);
	place_memory(text(all, "placement"));
	run.elements = bytes / sizeof(double);
	run.a = zeros(bytes);
	run.b = zeros(bytes);
	run.c = zeros(bytes);
}

void stream_part(size_t nth, size_t threads, void (*wait_for_all)(void))
{
	size_t from = run.elements * nth / threads, count = run.elements * (nth + 1) / threads - from;
	double *a = run.a + from, *b = run.b + from, *c = run.c + from;

	for (size_t at = 0; at < count; at++) {
		a[at] = 1;
		b[at] = 2;
		c[at] = 0;
	}
	for (uint64_t pass = 0; pass < run.passes; pass++)
		for (enum kernel kernel = COPY; kernel < KERNELS; kernel++) {
			uint64_t from_ns, took_ns;

			wait_for_all();
			from_ns = now_ns();
			once(kernel, a, b, c, count);
			wait_for_all();
			took_ns = now_ns() - from_ns;
			/* The first pass does not count. */
			if (!nth && pass && (pass == 1 || took_ns < run.best_ns[kernel]))
				run.best_ns[kernel] = took_ns;
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

void stream_end(void)
{
	check();
	for (enum kernel kernel = COPY; kernel < KERNELS; kernel++) {
		double moved = (double)run.elements * kernels[kernel].bytes;

		if (!run.best_ns[kernel])
			die(0, "stream: a pass took no time");
		result(kernels[kernel].metric, moved / 1e6 / ((double)run.best_ns[kernel] / 1e9));
	}
}
