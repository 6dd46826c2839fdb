/* What the parts of the worker share. */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes that no two threads' data share: the longest line is 128 bytes, and some prefetchers fetch pairs of lines. */
#define APART 256

/* Ends the program with a message, which `errno` follows unless it is 0. */
_Noreturn void die(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory of zeros, which no process shares or those that are forked. A page takes memory when it is touched. */
void *zeros(size_t bytes);
void *shared_zeros(size_t bytes);

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);
void sleep_ns(uint64_t ns);

/* Arguments `NAME=VALUE`; all that a part takes must be there, and nothing else may be. */
struct arguments {
	int count;
	char **text;
	unsigned taken;
};
uint64_t whole(struct arguments *all, const char *name, uint64_t least, uint64_t most);
double number(struct arguments *all, const char *name, double least, double most);
const char *text(struct arguments *all, const char *name);
void no_more(const struct arguments *all);

/* Where memory goes that this thread touches first: `default`, `interleave`, `interleave=NODES` or `bind=NODES`. */
void place_memory(const char *text);

/* A line of the result. */
void result(const char *name, double value);

pthread_t start(void *(*body)(void *), void *of);
void join(pthread_t thread);

/*
 * Times from 1 ns to 2^40 ns, in buckets of a thousandth. One thread records, another may read meanwhile. Untouched pages
 * take no memory.
 */
#define TIMES_FINE 1024
#define TIMES_OCTAVES 31
struct times {
	_Atomic uint64_t sum_ns;
	_Atomic uint64_t count;
	_Atomic uint32_t buckets[TIMES_OCTAVES * TIMES_FINE];
};
void record(struct times *times, uint64_t ns);
void merge(struct times *into, const struct times *from);
/* Prints mean and percentiles as NAME_mean_us, NAME_p50_us and so on. */
void result_times(const char *name, const struct times *times, const char *const *percents, size_t count);

/* Warm-up and measured time: the main task sleeps while others look at `open`. */
struct window {
	atomic_bool open;
	uint64_t from_ns;
	uint64_t to_ns;
};
void pass(struct window *window, double warmup_s, double seconds);
double window_s(const struct window *window);

/* Work by amounts of time that a thread alone needs for it, once that is known: measured, or as another process found it. */
double calibrate(void);
void calibrated(double turns_per_us);
void work_us(double us);

/* A child that does not outlive its parent; 0 in the child. */
pid_t child(void);
/* Ends children that go on for ever. First nobody goes on, so that nobody sees another end. */
void end_children(const pid_t *children, size_t count);

/* TCP connections over 127.0.0.1: where they are asked for, and both ends of one. */
int listening_socket(void);
void connect_ends(int listening, int ends[2]);

/* A part, as the first argument names it. The list ends with one without a name. */
struct part {
	const char *name;
	void (*run)(struct arguments *all);
};
extern const struct part parts[];

void ebizzy(struct arguments *all);
void false_sharing(struct arguments *all);
void stream(struct arguments *all);
void schbench(struct arguments *all);
void netperf(struct arguments *all);
void costs(struct arguments *all);
void costs_exec(struct arguments *all);
void mark(struct arguments *all);
void stats(struct arguments *all);

#endif
