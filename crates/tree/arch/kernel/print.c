// SPDX-License-Identifier: GPL-2.0-only
/* printk goes to the simulator; a warning is told, a panic ends the process of this replica. */
#include <linux/bug.h>
#include <linux/printk.h>
#include <linux/kernel.h>
#include "machine.h"

static char text[2048];

#define FORMAT(fmt)					\
do {							\
	va_list args;					\
	va_start(args, fmt);				\
	vsnprintf(text, sizeof(text), fmt, args);	\
	va_end(args);					\
} while (0)

int _printk(const char *fmt, ...)
{
	FORMAT(fmt);
	sc_host->log(text);
	return strlen(text);
}

int _printk_deferred(const char *fmt, ...)
{
	FORMAT(fmt);
	sc_host->log(text);
	return strlen(text);
}

void panic(const char *fmt, ...)
{
	FORMAT(fmt);
	sc_host->fatal(text);
	__builtin_unreachable();
}

void __warn_printk(const char *fmt, ...)
{
	FORMAT(fmt);
	sc_host->log(text);
}

void warn_slowpath_fmt(const char *file, int line, unsigned int taint, const char *fmt, ...)
{
	char place[256];

	snprintf(place, sizeof(place), "WARNING: CPU: %d PID: %d Comm: %s at %s:%d\n", sc_cpu, current->pid, current->comm, file, line);
	sc_host->log(place);
	if (fmt) {
		FORMAT(fmt);
		sc_host->log(text);
	}
	sc_host->event(SC_EVENT_WARN, sc_cpu, line, (sc_s64)(unsigned long)file);
}

/* A function that the list of symbols has as a trap. */
void sc_trap(const char *name)
{
	panic("%s() was called, and nothing is behind it", name);
}
