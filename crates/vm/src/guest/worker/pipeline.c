/* Stages joined by bounded queues. */
#define _GNU_SOURCE
#include "fleet.h"

#include <stdio.h>
#include <string.h>

/* As experiments may have, and their names. */
#define STAGES 32
#define NAME_BYTES 16

struct stage {
	char name[NAME_BYTES];
	size_t threads;
	double us;
	struct distribution distribution;
	bool ordered;
	struct footprint memory;
	struct channel *from, *to;
};

static struct {
	struct stage stages[STAGES];
	size_t count;
	double period_ns;
	struct window window;
} bench;

struct member {
	_Alignas(APART) const struct stage *stage;
	size_t nth;
	struct times times;
};

/* An item at its time, or now where it has none. */
static struct message begun(uint64_t number, double *due_ns)
{
	struct message item = { .number = number };

	if (bench.period_ns > 0) {
		*due_ns += bench.period_ns;
		if ((uint64_t)*due_ns > now_ns())
			sleep_until((uint64_t)*due_ns);
		item.began_ns = (uint64_t)*due_ns;
	} else {
		item.began_ns = now_ns();
	}
	return item;
}

static void *working(void *of)
{
	struct member *self = of;
	const struct stage *stage = self->stage;
	double due_ns = (double)now_ns();
	uint64_t number = 0;
	struct memory memory;

	called(stage->name);
	own(&memory, stage->memory, self->nth);
	for (;;) {
		struct message item = stage->from ? take(stage->from) : begun(++number, &due_ns);

		work(&memory, draw(&memory.random, stage->distribution, stage->us));
		if (stage->to) {
			put(stage->to, item);
		} else {
			uint64_t took_ns = now_ns() - item.began_ns;

			if (atomic_load(&bench.window.open))
				record(&self->times, took_ns);
		}
	}
	return NULL;
}

/* NAME,THREADS,US,DISTRIBUTION,ORDERED,MEMORY for each stage, with / between them; the number of all threads. */
static size_t read_stages(const char *text)
{
	size_t threads = 0;

	while (*text) {
		struct stage *stage = &bench.stages[bench.count];
		char shape[64], memory[64];
		int ordered, length = -1;

		if (bench.count == STAGES)
			die(0, "stages: found more than %d", STAGES);
		if (sscanf(text, "%15[^,/],%zu,%lf,%63[^,/],%d,%63[^,/]%n", stage->name, &stage->threads, &stage->us, shape, &ordered, memory,
			   &length) != 6 || (text[length] && text[length] != '/'))
			die(0, "stages: found %s, expected NAME,THREADS,US,DISTRIBUTION,ORDERED,MEMORY/...", text);
		stage->distribution = distribution(shape);
		stage->ordered = ordered;
		stage->memory = footprint(memory);
		threads += stage->threads;
		bench.count++;
		text += length + (text[length] == '/');
	}
	return threads;
}

void pipeline(struct arguments *all)
{
	static const char *const percents[] = { "50", "99" };
	size_t threads = read_stages(text(all, "stages")), most = whole(all, "queue", 1, 1000000);
	double per_s = number(all, "per_s", 0, 1e7), warmup_s = number(all, "warmup_s", 0, 3600);
	double seconds = number(all, "seconds", 1e-6, 3600);
	struct member *members = zeros(threads * sizeof(*members)), *next = members;
	struct times *times = zeros(sizeof(*times));

	no_more(all);
	bench.period_ns = per_s > 0 ? 1e9 / per_s : 0;
	calibrate();
	for (size_t at = 0; at + 1 < bench.count; at++)
		bench.stages[at].to = bench.stages[at + 1].from = channel(most, bench.stages[at].ordered);
	for (size_t at = 0; at < bench.count; at++)
		for (size_t nth = 0; nth < bench.stages[at].threads; nth++, next++) {
			next->stage = &bench.stages[at];
			next->nth = (size_t)(next - members);
			start(working, next);
		}
	pass(&bench.window, warmup_s, seconds);
	for (size_t nth = 0; nth < threads; nth++)
		merge(times, &members[nth].times);
	result("items_per_s", (double)times->count / window_s(&bench.window));
	result_times("item", times, percents, sizeof(percents) / sizeof(percents[0]));
}
