/* TCP_RR on loopback: pairs of processes that pass one byte to and fro. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void take(int end)
{
	char byte;
	ssize_t got = recv(end, &byte, 1, 0);

	if (got != 1)
		die(got < 0 ? errno : 0, "recv: the other end is gone");
}

static void give(int end)
{
	if (send(end, "x", 1, MSG_NOSIGNAL) != 1)
		die(errno, "send");
}

static void serve(int end)
{
	for (;;) {
		take(end);
		give(end);
	}
}

static void ask(int end, const struct window *window, struct times *round)
{
	for (;;) {
		uint64_t from_ns = now_ns(), to_ns;

		give(end);
		take(end);
		to_ns = now_ns();
		if (atomic_load(&window->open))
			record(round, to_ns - from_ns);
	}
}

void netperf(struct arguments *all)
{
	static const char *const percents[] = { "50", "99" };
	size_t pairs = whole(all, "pairs", 1, 4096);
	double warmup_s = number(all, "warmup_s", 0, 3600);
	double seconds = number(all, "seconds", 1e-6, 3600);
	struct window *window = shared_zeros(sizeof(*window));
	struct times *rounds = shared_zeros(pairs * sizeof(*rounds)), *round = zeros(sizeof(*round));
	pid_t *children = zeros(2 * pairs * sizeof(*children));
	int listening = listening_socket();

	no_more(all);
	for (size_t nth = 0; nth < pairs; nth++) {
		int ends[2];

		connect_ends(listening, ends);
		for (int end = 1; end >= 0; end--) {
			pid_t forked = child();

			if (!forked) {
				close(ends[!end]);
				if (end)
					serve(ends[end]);
				ask(ends[end], window, &rounds[nth]);
			}
			children[2 * nth + (size_t)end] = forked;
		}
		close(ends[0]);
		close(ends[1]);
	}
	pass(window, warmup_s, seconds);
	end_children(children, 2 * pairs);
	for (size_t nth = 0; nth < pairs; nth++)
		merge(round, &rounds[nth]);
	result("transactions_per_s", (double)round->count / window_s(window));
	result_times("round_trip", round, percents, sizeof(percents) / sizeof(percents[0]));
}
