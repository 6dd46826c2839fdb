/* Operations whose costs are counted. */
#ifndef COSTS_H
#define COSTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whose part of an operation a CPU works on. */
enum section {
	SECTION_NONE,
	SECTION_GIVE,	/* sends, and wakes the peer */
	SECTION_TAKE,	/* receives, and sleeps */
	SECTION_OWN,	/* what needs no peer */
	SECTION_END,	/* a child, from its start to its end */
	SECTION_WOKEN,	/* what follows on SECTION_TAKE where the CPU was idle; the plugin begins it */
};

/* One measurement. */
struct costs {
	int cpu;
	int peer;
	size_t bytes;
	size_t batch;
	bool threads;
	/* Of all windows and the time before. */
	uint64_t rounds;
	pid_t child;
	pthread_t thread;
};

struct operation {
	const char *name;
	/* Whether the task may use the peer's CPU, too. */
	bool moves;
	void (*begin)(struct costs *of);
	void (*round)(struct costs *of);
	void (*end)(struct costs *of);
};
/* Ends with one without a name. */
extern const struct operation operations[];

/* Binds a task to a CPU, or to two. */
void bind_to(pid_t who, int cpu, int other);

/* messages.c: the peer answers each message, or the last of a batch. */
void begin_pipe(struct costs *of);
void begin_unix(struct costs *of);
void begin_tcp(struct costs *of);
void begin_udp(struct costs *of);
void begin_eventfd(struct costs *of);
void begin_futex(struct costs *of);
void begin_mutex(struct costs *of);
void exchange(struct costs *of);
void end_exchange(struct costs *of);

/* alone.c */
void begin_nothing(struct costs *of);
void end_nothing(struct costs *of);
void begin_faults(struct costs *of);
void begin_yield(struct costs *of);
void do_fork(struct costs *of);
void do_exec(struct costs *of);
void do_fault(struct costs *of);
void do_timer(struct costs *of);
void do_yield(struct costs *of);
void do_affinity(struct costs *of);
void do_syscall(struct costs *of);
void end_yield(struct costs *of);

#endif
