/* schbench: workers that ask a message thread to be woken, sleep a moment, and work. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* States of a futex: nobody may pass, or one may. */
enum { CLOSED, OPEN };

static void futex_wait(atomic_int *futex)
{
	int open = OPEN;

	while (!atomic_compare_exchange_strong(futex, &open, CLOSED)) {
		open = OPEN;
		if (syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, CLOSED, NULL) && errno != EAGAIN && errno != EINTR)
			die(errno, "FUTEX_WAIT");
	}
}

static void futex_post(atomic_int *futex)
{
	if (atomic_exchange(futex, OPEN) == CLOSED && syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, 1) < 0)
		die(errno, "FUTEX_WAKE");
}

static struct {
	double sleep_us, work_us;
	size_t workers;
	struct window window;
} bench;

struct worker {
	_Alignas(APART) atomic_int futex;
	_Atomic uint64_t woken_ns;
	struct worker *next;
	struct messenger *messenger;
	struct times wakeup, request;
};

struct messenger {
	_Alignas(APART) atomic_int futex;
	_Alignas(APART) _Atomic(struct worker *) asking;
	struct worker *workers;
};

static void *working(void *of)
{
	struct worker *self = of;
	struct messenger *messenger = self->messenger;

	for (;;) {
		uint64_t from_ns, to_ns;

		self->next = atomic_load(&messenger->asking);
		while (!atomic_compare_exchange_weak(&messenger->asking, &self->next, self))
			;
		futex_post(&messenger->futex);
		futex_wait(&self->futex);
		from_ns = now_ns();
		if (atomic_load(&bench.window.open))
			record(&self->wakeup, from_ns - atomic_load(&self->woken_ns));
		if (bench.sleep_us > 0)
			sleep_ns((uint64_t)(bench.sleep_us * 1e3));
		work_us(bench.work_us);
		to_ns = now_ns();
		if (atomic_load(&bench.window.open))
			record(&self->request, to_ns - from_ns);
	}
	return NULL;
}

static void *messaging(void *of)
{
	struct messenger *self = of;

	for (size_t nth = 0; nth < bench.workers; nth++) {
		self->workers[nth].messenger = self;
		start(working, &self->workers[nth]);
	}
	for (;;) {
		struct worker *asking;

		futex_wait(&self->futex);
		asking = atomic_exchange(&self->asking, NULL);
		while (asking) {
			/* Once woken it may ask again. */
			struct worker *next = asking->next;

			atomic_store(&asking->woken_ns, now_ns());
			futex_post(&asking->futex);
			asking = next;
		}
	}
	return NULL;
}

void schbench(struct arguments *all)
{
	static const char *const percents[] = { "50", "90", "99", "99.9" };
	size_t messengers = whole(all, "message_threads", 1, 1000);
	double warmup_s, seconds;
	struct messenger *list;
	struct times *wakeup = zeros(sizeof(*wakeup)), *request = zeros(sizeof(*request));

	bench.workers = whole(all, "workers", 1, 4096);
	bench.sleep_us = number(all, "sleep_us", 0, 1e6);
	bench.work_us = number(all, "work_us", 1e-3, 1e7);
	warmup_s = number(all, "warmup_s", 0, 3600);
	seconds = number(all, "seconds", 1e-6, 3600);
	no_more(all);
	calibrate();
	list = zeros(messengers * sizeof(*list));
	for (size_t nth = 0; nth < messengers; nth++) {
		list[nth].workers = zeros(bench.workers * sizeof(struct worker));
		start(messaging, &list[nth]);
	}
	pass(&bench.window, warmup_s, seconds);
	for (size_t nth = 0; nth < messengers * bench.workers; nth++) {
		const struct worker *worker = &list[nth / bench.workers].workers[nth % bench.workers];

		merge(wakeup, &worker->wakeup);
		merge(request, &worker->request);
	}
	result_times("wakeup", wakeup, percents, sizeof(percents) / sizeof(percents[0]));
	result_times("request", request, percents, sizeof(percents) / sizeof(percents[0]));
	result("requests_per_s", (double)request->count / window_s(&bench.window));
}
