/* A neighbour that takes one thing away. */
#define _GNU_SOURCE
#include "fleet.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static struct {
	/* Nothing is waited for where the period is 0. */
	double period_ns, burst_us;
	bool wakes, pipe;
	struct footprint memory;
	struct window window;
	/* Posted by each thread that has its memory. */
	sem_t ready;
} bench;

struct member {
	_Alignas(APART) size_t nth;
	int from, to;
	struct times times;
};

/* The next point of a schedule; who is late goes by when it comes. */
static uint64_t next_point(uint64_t *due_ns)
{
	uint64_t now = now_ns(), point = *due_ns + (uint64_t)bench.period_ns;

	if (point > now) {
		sleep_until(point);
		*due_ns = point;
	} else {
		*due_ns = now;
	}
	return point;
}

static void *sending(void *of)
{
	struct member *self = of;
	uint64_t due_ns = now_ns();

	called("noisy");
	for (;;) {
		uint64_t sent_ns;

		next_point(&due_ns);
		sent_ns = now_ns();
		if (write(self->to, &sent_ns, sizeof(sent_ns)) != sizeof(sent_ns))
			die(errno, "write");
	}
	return NULL;
}

/* When what is awaited was due, or what begins now. */
static uint64_t awaited(struct member *self, uint64_t *due_ns)
{
	uint64_t sent_ns;

	if (bench.pipe) {
		if (read(self->from, &sent_ns, sizeof(sent_ns)) != sizeof(sent_ns))
			die(errno, "read");
		return sent_ns;
	}
	return bench.period_ns > 0 ? next_point(due_ns) : now_ns();
}

static void *working(void *of)
{
	struct member *self = of;
	struct memory memory;
	uint64_t due_ns;

	called("noisy");
	own(&memory, bench.memory, self->nth);
	sem_post(&bench.ready);
	due_ns = now_ns();
	for (;;) {
		uint64_t since_ns = awaited(self, &due_ns), late_ns = now_ns() - since_ns;

		work(&memory, bench.burst_us);
		if (atomic_load(&bench.window.open))
			record(&self->times, bench.wakes ? late_ns : now_ns() - since_ns);
	}
	return NULL;
}

void noisy(struct arguments *all)
{
	static const char *const percents[] = { "50", "99" };
	size_t threads = whole(all, "threads", 1, 4096);
	const char *name = text(all, "result");
	double units = number(all, "units", 1e-9, 1e12), warmup_s, seconds;
	struct member *members = zeros(threads * sizeof(*members));
	struct times *times = zeros(sizeof(*times));

	bench.period_ns = number(all, "period_us", 0, 1e12) * 1e3;
	bench.burst_us = number(all, "burst_us", 0, 1e9);
	bench.pipe = whole(all, "pipe", 0, 1);
	bench.wakes = !strcmp(name, "wakeups_per_s");
	bench.memory = footprint(text(all, "memory"));
	warmup_s = number(all, "warmup_s", 0, 3600);
	seconds = number(all, "seconds", 1e-6, 3600);
	no_more(all);
	calibrate();
	if (sem_init(&bench.ready, 0, 0))
		die(errno, "sem_init");
	for (size_t nth = 0; nth < threads; nth++) {
		members[nth].nth = nth;
		if (bench.pipe) {
			int ends[2];

			if (pipe(ends))
				die(errno, "pipe");
			members[nth].from = ends[0];
			members[nth].to = ends[1];
			start(sending, &members[nth]);
		}
		start(working, &members[nth]);
	}
	for (size_t nth = 0; nth < threads; nth++)
		while (sem_wait(&bench.ready))
			if (errno != EINTR)
				die(errno, "sem_wait");
	pass(&bench.window, warmup_s, seconds);
	for (size_t nth = 0; nth < threads; nth++)
		merge(times, &members[nth].times);
	result(name, (double)times->count * units / window_s(&bench.window));
	if (bench.wakes)
		result_times("late", times, percents, sizeof(percents) / sizeof(percents[0]));
}
