/* A service: workers under an open or a closed loop of requests. */
#define _GNU_SOURCE
#include "fleet.h"

#include <errno.h>
#include <stdlib.h>

static struct {
	struct channel *requests, *questions;
	bool open_loop, locks;
	double work_us, lock_share, leaf_us, think_ns, period_ns;
	size_t asks;
	struct distribution distribution, leaf_distribution;
	struct footprint memory, leaf_memory;
	pthread_mutex_t lock;
	struct window window;
	uint64_t deadline_ns;
} bench;

/* A thread of any kind. */
struct member {
	_Alignas(APART) size_t nth;
	struct times latency;
	uint64_t timely;
};

static void note(struct member *self, uint64_t began_ns)
{
	uint64_t took_ns = now_ns() - began_ns;

	if (!atomic_load(&bench.window.open))
		return;
	record(&self->latency, took_ns);
	self->timely += took_ns <= bench.deadline_ns;
}

static void ask_others(struct message request, struct channel *answers)
{
	struct message question = { .began_ns = request.began_ns, .number = 1, .answers = answers };

	for (size_t nth = 0; nth < bench.asks; nth++)
		put(bench.questions, question);
	for (size_t nth = 0; nth < bench.asks; nth++)
		take(answers);
}

static void *working(void *of)
{
	struct member *self = of;
	struct channel *answers = bench.asks ? channel(0, false) : NULL;
	double free_part = 1 - bench.lock_share, before = bench.asks ? free_part / 2 : free_part;
	struct memory memory;

	called("service");
	own(&memory, bench.memory, self->nth);
	for (;;) {
		struct message request = take(bench.requests);
		double us = draw(&memory.random, bench.distribution, bench.work_us);

		work(&memory, us * before);
		if (bench.locks) {
			pthread_mutex_lock(&bench.lock);
			work(&memory, us * bench.lock_share);
			pthread_mutex_unlock(&bench.lock);
		}
		if (bench.asks) {
			ask_others(request, answers);
			work(&memory, us * (free_part - before));
		}
		if (request.answers)
			put(request.answers, (struct message){ .began_ns = request.began_ns, .number = 1 });
		else
			note(self, request.began_ns);
	}
	return NULL;
}

static void *answering(void *of)
{
	struct member *self = of;
	struct memory memory;

	called("leaf");
	own(&memory, bench.leaf_memory, self->nth);
	for (;;) {
		struct message question = take(bench.questions);

		work(&memory, draw(&memory.random, bench.leaf_distribution, bench.leaf_us));
		put(question.answers, (struct message){ .began_ns = question.began_ns, .number = 1 });
	}
	return NULL;
}

/* Sends requests at random, also those that are overdue. */
static void *generating(void *of)
{
	struct member *self = of;
	struct distribution exponential = { .shape = EXPONENTIAL };
	double due_ns;
	struct random random;

	called("load");
	seed(&random, self->nth);
	due_ns = (double)now_ns();
	for (;;) {
		due_ns += draw(&random, exponential, bench.period_ns);
		if ((uint64_t)due_ns > now_ns())
			sleep_until((uint64_t)due_ns);
		put(bench.requests, (struct message){ .began_ns = (uint64_t)due_ns, .number = 1 });
	}
	return NULL;
}

/* Thinks, asks, and waits. */
static void *using(void *of)
{
	struct member *self = of;
	struct channel *answers = channel(0, false);
	struct distribution exponential = { .shape = EXPONENTIAL };
	struct random random;

	called("load");
	seed(&random, self->nth);
	for (;;) {
		uint64_t began_ns;

		if (bench.think_ns > 0)
			sleep_ns((uint64_t)draw(&random, exponential, bench.think_ns));
		began_ns = now_ns();
		put(bench.requests, (struct message){ .began_ns = began_ns, .number = 1, .answers = answers });
		take(answers);
		note(self, began_ns);
	}
	return NULL;
}

static void results(const struct member *members, size_t count)
{
	static const char *const percents[] = { "50", "90", "99", "99.9" };
	struct times *latency = zeros(sizeof(*latency));
	uint64_t timely = 0;

	for (size_t nth = 0; nth < count; nth++) {
		merge(latency, &members[nth].latency);
		timely += members[nth].timely;
	}
	result("requests_per_s", (double)latency->count / window_s(&bench.window));
	if (bench.deadline_ns)
		result("goodput_per_s", (double)timely / window_s(&bench.window));
	result_times("latency", latency, percents, sizeof(percents) / sizeof(percents[0]));
}

void service(struct arguments *all)
{
	size_t workers = whole(all, "workers", 1, 8192), senders = whole(all, "senders", 1, 8192), leaves;
	double per_s = number(all, "per_s", 0, 1e8), warmup_s, seconds;
	struct member *members;

	bench.open_loop = per_s > 0;
	bench.period_ns = bench.open_loop ? 1e9 * (double)senders / per_s : 0;
	bench.think_ns = number(all, "think_ms", 0, 1e6) * 1e6;
	bench.work_us = number(all, "work_us", 1e-3, 1e7);
	bench.distribution = distribution(text(all, "distribution"));
	bench.lock_share = number(all, "lock_share", 0, 1);
	bench.locks = bench.lock_share > 0;
	bench.asks = whole(all, "asks", 0, 256);
	leaves = whole(all, "leaves", 0, 8192);
	bench.leaf_us = number(all, "leaf_us", 0, 1e7);
	bench.leaf_distribution = distribution(text(all, "leaf_distribution"));
	bench.deadline_ns = (uint64_t)(number(all, "deadline_ms", 0, 1e6) * 1e6);
	bench.memory = footprint(text(all, "memory"));
	bench.leaf_memory = footprint(text(all, "leaf_memory"));
	warmup_s = number(all, "warmup_s", 0, 3600);
	seconds = number(all, "seconds", 1e-6, 3600);
	no_more(all);
	calibrate();
	bench.requests = channel(0, false);
	bench.questions = channel(0, false);
	if (pthread_mutex_init(&bench.lock, NULL))
		die(0, "a lock");
	members = zeros((workers + leaves + senders) * sizeof(*members));
	for (size_t nth = 0; nth < workers + leaves + senders; nth++) {
		void *(*what)(void *) = bench.open_loop ? generating : using;

		if (nth < leaves)
			what = answering;
		else if (nth < leaves + workers)
			what = working;
		members[nth].nth = nth;
		start(what, &members[nth]);
	}
	pass(&bench.window, warmup_s, seconds);
	results(members, workers + leaves + senders);
}
