/* Arguments, clock, errors, results. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

_Noreturn void die(int error, const char *format, ...)
{
	va_list arguments;

	fputs("worker: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	fflush(stderr);
	_exit(1);
}

static void *mapped(size_t bytes, int kind)
{
	void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE | kind, -1, 0);

	if (found == MAP_FAILED)
		die(errno, "memory: %zu bytes", bytes);
	return found;
}

void *zeros(size_t bytes)
{
	return mapped(bytes, MAP_PRIVATE);
}

void *shared_zeros(size_t bytes)
{
	return mapped(bytes, MAP_SHARED);
}

uint64_t now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		die(errno, "clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	struct timespec left = { .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
	int error;

	while ((error = clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left)))
		if (error != EINTR)
			die(error, "clock_nanosleep");
}

const char *text(struct arguments *all, const char *name)
{
	size_t length = strlen(name);
	const char *found = NULL;

	for (int nth = 0; nth < all->count; nth++) {
		const char *given = all->text[nth];

		if (strncmp(given, name, length) || given[length] != '=')
			continue;
		if (found)
			die(0, "%s: found twice, expected once", name);
		found = given + length + 1;
	}
	if (!found)
		die(0, "%s: missing", name);
	all->taken++;
	return found;
}

uint64_t whole(struct arguments *all, const char *name, uint64_t least, uint64_t most)
{
	const char *given = text(all, name);
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(given, &end, 10);
	if (errno || end == given || *end || *given < '0' || *given > '9' || value < least || value > most)
		die(0, "%s: found %s, expected %" PRIu64 " to %" PRIu64, name, given, least, most);
	return value;
}

double number(struct arguments *all, const char *name, double least, double most)
{
	const char *given = text(all, name);
	char *end;
	double value;

	errno = 0;
	value = strtod(given, &end);
	if (errno || end == given || *end || !(value >= least && value <= most))
		die(0, "%s: found %s, expected %g to %g", name, given, least, most);
	return value;
}

void no_more(const struct arguments *all)
{
	if (all->taken != (unsigned)all->count)
		die(0, "found %d arguments, expected %u", all->count, all->taken);
}

void result(const char *name, double value)
{
	if (printf("%s %.9g\n", name, value) < 0)
		die(errno, "output");
}

pthread_t start(void *(*body)(void *), void *of)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, body, of);

	if (error)
		die(error, "pthread_create");
	return thread;
}

void join(pthread_t thread)
{
	int error = pthread_join(thread, NULL);

	if (error)
		die(error, "pthread_join");
}

void pass(struct window *window, double warmup_s, double seconds)
{
	sleep_ns((uint64_t)(warmup_s * 1e9));
	window->from_ns = now_ns();
	atomic_store(&window->open, true);
	sleep_ns((uint64_t)(seconds * 1e9));
	atomic_store(&window->open, false);
	window->to_ns = now_ns();
}

double window_s(const struct window *window)
{
	return (double)(window->to_ns - window->from_ns) / 1e9;
}
