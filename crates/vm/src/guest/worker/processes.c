/* Parts whose processes load this program anew: copies, and a build. */
#define _GNU_SOURCE
#include "fleet.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void bind_to_cpu(int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);

	if (!set)
		die(errno, "CPU_ALLOC");
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set))
		die(errno, "CPU %d", cpu);
	CPU_FREE(set);
}

__attribute__((format(printf, 2, 3))) static void say(char argument[ARGUMENT], const char *format, ...)
{
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(argument, ARGUMENT, format, values);
	va_end(values);
	if (length < 0 || length >= ARGUMENT)
		die(0, "an argument of %d bytes", length);
}

pid_t run_self(const char *part, char arguments[][ARGUMENT], size_t count)
{
	char *all[16] = { (char *)"fleet", (char *)part };
	pid_t forked;

	if (count + 3 > sizeof(all) / sizeof(all[0]))
		die(0, "%zu arguments", count);
	for (size_t nth = 0; nth < count; nth++)
		all[2 + nth] = arguments[nth];
	forked = child();
	if (forked)
		return forked;
	execv(SELF, all);
	die(errno, "%s", SELF);
}

/* Whether a process has ended, and well; none has where there is none, or where nobody is waited for. */
static bool await(pid_t who, int how)
{
	int status;
	pid_t ended = waitpid(who, &status, how);

	if (ended < 0 && errno != ECHILD)
		die(errno, "waitpid");
	if (ended > 0 && (!WIFEXITED(status) || WEXITSTATUS(status)))
		die(0, "a process failed");
	return ended > 0;
}

/* CPUs that this process may use, in the order of their numbers; gives how many. */
static size_t usable(int *cpus, size_t most)
{
	size_t size = CPU_ALLOC_SIZE(most), count = 0;
	cpu_set_t *set = CPU_ALLOC(most);

	if (!set || sched_getaffinity(0, size, set))
		die(errno, "sched_getaffinity");
	for (size_t cpu = 0; cpu < most; cpu++)
		if (CPU_ISSET_S(cpu, size, set))
			cpus[count++] = (int)cpu;
	CPU_FREE(set);
	return count;
}

void copy(struct arguments *all)
{
	int to = (int)whole(all, "to", 0, 1 << 20);
	double us = number(all, "us", 0, 1e12);
	struct memory memory;
	uint64_t from_ns, took_ns;

	calibrated(number(all, "rate", 1e-9, 1e12));
	own(&memory, footprint(text(all, "memory")), (uint64_t)getpid());
	no_more(all);
	called("copies");
	from_ns = now_ns();
	work(&memory, us);
	took_ns = now_ns() - from_ns;
	if (write(to, &took_ns, sizeof(took_ns)) != sizeof(took_ns))
		die(errno, "write");
}

void copies(struct arguments *all)
{
	static int cpus[8192];
	/* A pipe holds the times of as many. */
	size_t count = whole(all, "copies", 1, 8192), allowed = usable(cpus, 8192);
	double us = number(all, "work_s", 1e-6, 3600) * 1e6, rates = 0, sum_ns = 0;
	bool bound = whole(all, "bound", 0, 1);
	const char *memory = text(all, "memory");
	pid_t *running = zeros(count * sizeof(*running));
	char arguments[4][ARGUMENT];
	uint64_t from_ns;
	int ends[2];

	no_more(all);
	if (pipe(ends))
		die(errno, "pipe");
	say(arguments[0], "to=%d", ends[1]);
	say(arguments[1], "us=%.17g", us);
	say(arguments[2], "rate=%.17g", calibrate());
	say(arguments[3], "memory=%s", memory);
	from_ns = now_ns();
	for (size_t nth = 0; nth < count; nth++) {
		running[nth] = bound ? child() : run_self("copy", arguments, 4);
		if (bound && !running[nth]) {
			bind_to_cpu(cpus[nth % allowed]);
			execl(SELF, "fleet", "copy", arguments[0], arguments[1], arguments[2], arguments[3], NULL);
			die(errno, "%s", SELF);
		}
	}
	for (size_t nth = 0; nth < count; nth++)
		await(running[nth], 0);
	result("seconds", (double)(now_ns() - from_ns) / 1e9);
	for (size_t nth = 0; nth < count; nth++) {
		uint64_t took_ns;

		if (read(ends[0], &took_ns, sizeof(took_ns)) != sizeof(took_ns) || !took_ns)
			die(errno, "copies: a time is missing");
		sum_ns += (double)took_ns;
		rates += 1e9 / (double)took_ns;
	}
	result("copy_ms", sum_ns / (double)count / 1e6);
	result("copies_per_s", rates);
}

/* A compiler or a linker. */
void tool(struct arguments *all)
{
	double us = number(all, "us", 0, 1e12);
	struct memory memory;

	called(text(all, "name"));
	calibrated(number(all, "rate", 1e-9, 1e12));
	own(&memory, footprint(text(all, "memory")), (uint64_t)getpid());
	no_more(all);
	work(&memory, us);
}

static void run_tool(const char *name, const char *us, const char *rate, const char *memory)
{
	char arguments[4][ARGUMENT];

	say(arguments[0], "name=%s", name);
	say(arguments[1], "us=%s", us);
	say(arguments[2], "rate=%s", rate);
	say(arguments[3], "memory=%s", memory);
	await(run_self("tool", arguments, 4), 0);
}

/* The shell of an object: it puts its token back. */
void job(struct arguments *all)
{
	int tokens = (int)whole(all, "tokens", 0, 1 << 20);
	const char *us = text(all, "us"), *rate = text(all, "rate"), *memory = text(all, "memory");

	called(text(all, "name"));
	no_more(all);
	run_tool("cc1", us, rate, memory);
	if (write(tokens, "+", 1) != 1)
		die(errno, "write");
}

void build(struct arguments *all)
{
	size_t jobs = whole(all, "jobs", 1, 8192), objects = whole(all, "objects", 1, 1000000);
	double compile_us = number(all, "compile_ms", 1e-3, 1e7) * 1e3, head_us = number(all, "head_ms", 0, 1e7) * 1e3;
	double link_us = number(all, "link_ms", 0, 1e7) * 1e3;
	struct distribution shape = distribution(text(all, "distribution"));
	const char *memory = text(all, "memory");
	char rate[ARGUMENT], us[ARGUMENT], arguments[5][ARGUMENT];
	struct random random;
	uint64_t from_ns;
	int tokens[2];

	no_more(all);
	seed(&random, 0);
	say(rate, "%.17g", calibrate());
	if (pipe(tokens))
		die(errno, "pipe");
	say(arguments[0], "tokens=%d", tokens[1]);
	say(arguments[1], "rate=%s", rate);
	say(arguments[2], "memory=%s", memory);
	called("make");
	from_ns = now_ns();
	work_us(head_us);
	for (size_t nth = 0; nth < jobs; nth++)
		if (write(tokens[1], "+", 1) != 1)
			die(errno, "write");
	for (size_t nth = 0; nth < objects; nth++) {
		char token;

		if (read(tokens[0], &token, 1) != 1)
			die(errno, "read");
		say(arguments[3], "name=job%zu", nth % jobs);
		say(arguments[4], "us=%.17g", draw(&random, shape, compile_us));
		run_self("job", arguments, 5);
		while (await(-1, WNOHANG))
			;
	}
	while (await(-1, 0))
		;
	if (link_us > 0) {
		say(us, "%.17g", link_us);
		run_tool("ld", us, rate, memory);
	}
	result("seconds", (double)(now_ns() - from_ns) / 1e9);
}
