/* A database under short transactions: a client and a backend for each connection, locks of rows, a log that is written in groups. */
#define _GNU_SOURCE
#include "fleet.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Transactions after which a connection begins again with its first row. */
#define ROUND 16

struct shared {
	struct window window;
	/* The log's device: until when it is busy, and the write that has not begun. */
	_Alignas(APART) pthread_mutex_t log;
	uint64_t begins_ns, ends_ns;
	_Alignas(APART) pthread_mutex_t rows[];
};

static struct {
	struct shared *shared;
	double think_ns, statement_us;
	uint64_t log_ns;
	size_t statements, writes_from, rows;
	struct distribution distribution;
} bench;

static void take_byte(int end)
{
	char byte;

	if (recv(end, &byte, 1, 0) != 1)
		die(errno, "recv");
}

static void give_byte(int end)
{
	if (send(end, "x", 1, MSG_NOSIGNAL) != 1)
		die(errno, "send");
}

/* As good as drawn, and the same wherever it runs. */
static size_t row(size_t connection, size_t nth)
{
	uint32_t mixed = ((uint32_t)connection * ROUND + (uint32_t)(nth % ROUND)) * UINT32_C(0x9e3779b9);

	return (mixed >> 8) % bench.rows;
}

/* Sleeps until the log is written that was not begun when this was asked for: with all others who wait for that. */
static void commit(void)
{
	struct shared *shared = bench.shared;
	uint64_t now = now_ns(), done_ns;

	pthread_mutex_lock(&shared->log);
	if (shared->begins_ns <= now) {
		shared->begins_ns = shared->ends_ns > now ? shared->ends_ns : now;
		shared->ends_ns = shared->begins_ns + bench.log_ns;
	}
	done_ns = shared->ends_ns;
	pthread_mutex_unlock(&shared->log);
	sleep_until(done_ns);
}

static void serve(int end, size_t connection)
{
	struct random random;

	called("backend");
	seed(&random, connection);
	for (size_t transaction = 0;; transaction++) {
		pthread_mutex_t *lock = &bench.shared->rows[row(connection, transaction)];

		for (size_t nth = 1; nth <= bench.statements; nth++) {
			take_byte(end);
			if (nth == bench.writes_from)
				pthread_mutex_lock(lock);
			work_us(draw(&random, bench.distribution, bench.statement_us));
			if (nth == bench.statements) {
				commit();
				pthread_mutex_unlock(lock);
			}
			give_byte(end);
		}
	}
}

static void ask(int end, size_t connection, struct times *times)
{
	struct distribution exponential = { .shape = EXPONENTIAL };
	struct random random;

	called("client");
	seed(&random, ~connection);
	for (;;) {
		uint64_t from_ns, took_ns;

		if (bench.think_ns > 0)
			sleep_ns((uint64_t)draw(&random, exponential, bench.think_ns));
		from_ns = now_ns();
		for (size_t nth = 0; nth < bench.statements; nth++) {
			give_byte(end);
			take_byte(end);
		}
		took_ns = now_ns() - from_ns;
		if (atomic_load(&bench.shared->window.open))
			record(times, took_ns);
	}
}

static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t kind;

	if (pthread_mutexattr_init(&kind) || pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) || pthread_mutex_init(lock, &kind))
		die(0, "a lock of several processes");
}

static struct shared *shared_state(void)
{
	struct shared *made = shared_zeros(sizeof(*made) + bench.rows * sizeof(made->rows[0]));

	init_lock(&made->log);
	for (size_t nth = 0; nth < bench.rows; nth++)
		init_lock(&made->rows[nth]);
	return made;
}

void oltp(struct arguments *all)
{
	static const char *const percents[] = { "50", "90", "99", "99.9" };
	size_t connections = whole(all, "connections", 1, 8192);
	struct times *times = shared_zeros(connections * sizeof(*times)), *whole_times = zeros(sizeof(*whole_times));
	pid_t *children = zeros(2 * connections * sizeof(*children));
	double warmup_s, seconds;
	int listening = listening_socket();

	bench.think_ns = number(all, "think_ms", 0, 1e6) * 1e6;
	bench.statements = whole(all, "statements", 1, 256);
	bench.statement_us = number(all, "statement_us", 1e-3, 1e7);
	bench.distribution = distribution(text(all, "distribution"));
	bench.writes_from = whole(all, "writes_from", 1, bench.statements);
	bench.rows = whole(all, "rows", 1, 8192);
	bench.log_ns = (uint64_t)(number(all, "log_us", 0, 1e6) * 1e3);
	warmup_s = number(all, "warmup_s", 0, 3600);
	seconds = number(all, "seconds", 1e-6, 3600);
	no_more(all);
	calibrate();
	bench.shared = shared_state();
	for (size_t nth = 0; nth < connections; nth++) {
		int ends[2];

		connect_ends(listening, ends);
		for (size_t end = 2; end-- > 0;) {
			pid_t forked = child();

			if (!forked) {
				close(ends[!end]);
				if (end)
					serve(ends[end], nth);
				ask(ends[end], nth, &times[nth]);
			}
			children[2 * nth + end] = forked;
		}
		close(ends[0]);
		close(ends[1]);
	}
	pass(&bench.shared->window, warmup_s, seconds);
	end_children(children, 2 * connections);
	for (size_t nth = 0; nth < connections; nth++)
		merge(whole_times, &times[nth]);
	result("transactions_per_s", (double)whole_times->count / window_s(&bench.shared->window));
	result_times("transaction", whole_times, percents, sizeof(percents) / sizeof(percents[0]));
}
