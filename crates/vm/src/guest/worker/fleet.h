/* What the parts of the fleet's program share. */
#ifndef FLEET_H
#define FLEET_H

#include "worker.h"

/* What a program finds itself under. */
#define SELF "/proc/self/exe"

/* Random numbers of one thread. */
struct random {
	uint64_t state;
};
void seed(struct random *random, uint64_t nth);
/* More than 0 and less than 1. */
double unit(struct random *random);

/* How amounts differ, as in constant, exponential, lognormal:CV, bimodal:SHARE:FACTOR. */
struct distribution {
	enum { CONSTANT, EXPONENTIAL, LOGNORMAL, BIMODAL } shape;
	double first, second;
};
struct distribution distribution(const char *text);
double draw(struct random *random, struct distribution of, double mean);

/* What work does to memory, as in KIB:TOUCHES_PER_US:GB_PER_S:PLACEMENT, or none. */
struct footprint {
	double set_kib, touches_per_us, gb_per_s;
	char placement[64];
};
struct footprint footprint(const char *text);

/* One thread's memory. */
struct memory {
	struct footprint use;
	struct random random;
	volatile char *set;
	/* Of touches and bytes that are due, what is no whole one. */
	double touches, bytes;
	size_t at;
};
/* The thread touches all of its working set. */
void own(struct memory *memory, struct footprint use, uint64_t nth);
/* Work of a thread alone, with its memory. */
void work(struct memory *memory, double us);

/* A queue of requests or items, in the order in which they come or in that of their numbers, from 1 on. */
struct message {
	uint64_t began_ns, number;
	/* Where the answer goes. */
	struct channel *answers;
};
struct channel;
/* Of so many messages at most; 0 for as many as come. */
struct channel *channel(size_t most, bool ordered);
void put(struct channel *channel, struct message message);
struct message take(struct channel *channel);

/* Names the thread. */
void called(const char *name);
/* Sleeps until a point of now_ns(). */
void sleep_until(uint64_t ns);

/* Starts this program anew in a child, with a part and its arguments; none is longer than ARGUMENT. */
#define ARGUMENT 256
pid_t run_self(const char *part, char arguments[][ARGUMENT], size_t count);
void bind_to_cpu(int cpu);

void service(struct arguments *all);
void oltp(struct arguments *all);
void parallel(struct arguments *all);
void free_stream(struct arguments *all);
void copies(struct arguments *all);
void copy(struct arguments *all);
void pipeline(struct arguments *all);
void build(struct arguments *all);
void job(struct arguments *all);
void tool(struct arguments *all);
void noisy(struct arguments *all);

#endif
