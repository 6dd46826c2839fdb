// SPDX-License-Identifier: GPL-2.0-only
/*
 * What code wants that was compiled with sanitizers (`sanitize` of a source).
 *
 * AddressSanitizer's runtime is the host's, loaded before all else: the kernel's memory is the host's, so it has its red zones and
 * its quarantine. Its first report ends the run. The handlers of UndefinedBehaviorSanitizer are here; each place is told once, as a
 * warning, and the kernel goes on as it would without.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "machine.h"

#ifdef CONFIG_SCHEDSCAPE_ADDRESS
#define OF_RUNTIME __attribute__((visibility("default")))

OF_RUNTIME void __asan_unpoison_memory_region(const volatile void *from, unsigned long size);
OF_RUNTIME void __asan_set_error_report_callback(void (*told)(const char *report));

/* It would clean the host's stack, which is not the one that a task leaves. sc_fresh_stack() cleans that. */
void __asan_handle_no_return(void)
{
}

void sc_fresh_stack(void *stack, size_t size)
{
	__asan_unpoison_memory_region(stack, size);
}

static void told(const char *report)
{
	sc_host->fatal(report);
}

void sc_sanitizers_setup(void)
{
	__asan_set_error_report_callback(told);
}
#else
void sc_fresh_stack(void *stack, size_t size)
{
}

void sc_sanitizers_setup(void)
{
}
#endif

#ifdef CONFIG_SCHEDSCAPE_UNDEFINED
/* As the compiler lays them out, in writable memory. */
struct place {
	const char *file;
	u32 line, column;
};

struct type {
	u16 kind, info;		/* kind 0: an integer; info: its sign in bit 0, the logarithm of its bits above */
	char name[];
};

struct of_index {
	struct place at;
	const struct type *array, *index;
};

struct of_shift {
	struct place at;
	const struct type *value, *by;
};

struct of_value {
	struct place at;
	const struct type *type;
};

/* A number as its type has it. Those that do not fit into a word are handed over by their address. */
static s64 number(const struct type *type, unsigned long handle)
{
	unsigned int bits_log = type->info >> 1, unused;

	if (type->kind)
		return handle;
	if (bits_log > 6)
		return *(s64 *)handle;
	unused = 64 - (1u << bits_log);
	return type->info & 1 ? (s64)(handle << unused) >> unused : handle;
}

static bool telling;

/* Each place is told once: its column is gone then, as the host's runtime does it. */
static noinline void sc_tell(struct place *at, const char *what, ...)
{
	char text[320];
	va_list args;
	int length;

	if (at->column == ~0u || telling || !sc_host)
		return;
	telling = true;
	length = scnprintf(text, sizeof(text), "%s:%u: ", at->file, at->line);
	va_start(args, what);
	vsnprintf(text + length, sizeof(text) - length, what, args);
	va_end(args);
	at->column = ~0u;
	sc_host->event(SC_EVENT_UNDEFINED, sc_cpu, 0, (sc_s64)(unsigned long)text);
	telling = false;
}

void __ubsan_handle_out_of_bounds(struct of_index *data, unsigned long index)
{
	sc_tell(&data->at, "index %lld is out of the bounds of %s", number(data->index, index), data->array->name);
}

void __ubsan_handle_shift_out_of_bounds(struct of_shift *data, unsigned long value, unsigned long by)
{
	sc_tell(&data->at, "shift of %lld, %s, by %lld", number(data->value, value), data->value->name, number(data->by, by));
}

void __ubsan_handle_divrem_overflow(struct of_value *data, unsigned long value, unsigned long by)
{
	sc_tell(&data->at, "division of %lld, %s, by %lld", number(data->type, value), data->type->name, number(data->type, by));
}

void __ubsan_handle_load_invalid_value(struct of_value *data, unsigned long value)
{
	sc_tell(&data->at, "%lld is no value of %s", number(data->type, value), data->type->name);
}

void __ubsan_handle_vla_bound_not_positive(struct of_value *data, unsigned long bound)
{
	sc_tell(&data->at, "an array of %lld elements", number(data->type, bound));
}

void __ubsan_handle_builtin_unreachable(struct place *at)
{
	panic("UBSAN: %s:%u: code that cannot be reached was", at->file, at->line);
}
#endif

#ifdef CONFIG_SCHEDSCAPE_COVERAGE
void __gcov_dump(void);
void __gcov_reset(void);

/* Adds what was executed since the last time to the files that GCOV_PREFIX says. */
__attribute__((visibility("default"))) void sc_coverage(void)
{
	__gcov_dump();
	__gcov_reset();
}
#endif
