/* Operations of one task, and of two that share a CPU. */
#define _GNU_SOURCE
#include "worker.h"

#include "costs.h"
#include "marks.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a program finds itself under. */
#define SELF "/proc/self/exe"

const struct operation operations[] = {
	{ "pipe", false, begin_pipe, exchange, end_exchange },
	{ "unix", false, begin_unix, exchange, end_exchange },
	{ "tcp", false, begin_tcp, exchange, end_exchange },
	{ "udp", false, begin_udp, exchange, end_exchange },
	{ "eventfd", false, begin_eventfd, exchange, end_exchange },
	{ "futex", false, begin_futex, exchange, end_exchange },
	{ "mutex", false, begin_mutex, exchange, end_exchange },
	{ "fork", true, begin_nothing, do_fork, end_nothing },
	{ "exec", true, begin_nothing, do_exec, end_nothing },
	{ "fault", false, begin_faults, do_fault, end_nothing },
	{ "timer", false, begin_nothing, do_timer, end_nothing },
	{ "yield", false, begin_yield, do_yield, end_yield },
	{ "affinity", true, begin_nothing, do_affinity, end_nothing },
	{ "syscall", false, begin_nothing, do_syscall, end_nothing },
	{ NULL, false, NULL, NULL, NULL },
};

void begin_nothing(struct costs *of)
{
	(void)of;
}

void end_nothing(struct costs *of)
{
	(void)of;
}

static pid_t forked(void)
{
	pid_t child;

	MARK(SECTION_GIVE);
	child = fork();
	if (child < 0)
		die(errno, "fork");
	if (child)
		MARK(SECTION_NONE);
	return child;
}

static void reap(pid_t child)
{
	int status;

	MARK(SECTION_TAKE);
	if (waitpid(child, &status, 0) != child || status)
		die(0, "a child failed");
	MARK(SECTION_NONE);
}

void do_fork(struct costs *of)
{
	pid_t child = forked();

	(void)of;
	if (!child) {
		MARK(SECTION_END);
		syscall(SYS_exit_group, 0);
	}
	reap(child);
}

/* The new program's start, up to its first mark, is part of it. */
void do_exec(struct costs *of)
{
	pid_t child = forked();
	char *const arguments[] = { "worker", "costs_exec", NULL };

	(void)of;
	if (!child) {
		MARK(SECTION_OWN);
		execv(SELF, arguments);
		die(errno, SELF);
	}
	reap(child);
}

static char *pages;
static size_t page, next, nr_pages;

void begin_faults(struct costs *of)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	nr_pages = 256;
	pages = zeros(nr_pages * page);
	if (madvise(pages, nr_pages * page, MADV_NOHUGEPAGE))
		die(errno, "MADV_NOHUGEPAGE");
	next = 0;
	(void)of;
}

void do_fault(struct costs *of)
{
	(void)of;
	if (next == nr_pages) {
		if (madvise(pages, nr_pages * page, MADV_DONTNEED))
			die(errno, "MADV_DONTNEED");
		next = 0;
	}
	MARK(SECTION_OWN);
	*(volatile char *)(pages + next++ * page) = 1;
	MARK(SECTION_NONE);
}

void do_timer(struct costs *of)
{
	(void)of;
	MARK(SECTION_OWN);
	sleep_ns(50000);
	MARK(SECTION_NONE);
}

static void *yielder(void *data)
{
	struct costs *of = data;

	bind_to(0, of->cpu, -1);
	for (;;)
		do_yield(of);
	return NULL;
}

void begin_yield(struct costs *of)
{
	if (of->threads) {
		of->thread = start(yielder, of);
		return;
	}
	of->child = fork();
	if (of->child < 0)
		die(errno, "fork");
	if (!of->child)
		yielder(of);
}

void do_yield(struct costs *of)
{
	(void)of;
	MARK(SECTION_OWN);
	sched_yield();
	MARK(SECTION_NONE);
}

/* A thread that yields for ever ends with the program. */
void end_yield(struct costs *of)
{
	if (!of->threads && (kill(of->child, SIGKILL) || waitpid(of->child, NULL, 0) != of->child))
		die(errno, "the other task");
}

void do_affinity(struct costs *of)
{
	MARK(SECTION_OWN);
	bind_to(0, of->peer, -1);
	MARK(SECTION_NONE);
	MARK(SECTION_OWN);
	bind_to(0, of->cpu, -1);
	MARK(SECTION_NONE);
}

void do_syscall(struct costs *of)
{
	(void)of;
	MARK(SECTION_OWN);
	syscall(SYS_getppid);
	MARK(SECTION_NONE);
}
