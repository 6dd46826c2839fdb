/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the kernel's lock functions are: a file that has a line for each of them, in the order of their addresses,
 *
 *	spin|try|rw|mutex|rwsem|helper|queue START END
 *
 * (`helper` for what they call, `queue` for functions that take no locks but run queues'), and a line `inlined` where the kernel has no functions for spinlocks.
 */
#include "lines.h"

#include <inttypes.h>
#include <string.h>

#define MAX_RANGES 512

static struct {
	uint64_t start;
	uint64_t end;
	enum lock_text text;
} ranges[MAX_RANGES];
static unsigned int nr_ranges;
static bool inlined, watches;

bool watches_locks(void)
{
	return watches;
}

bool inlines_locks(void)
{
	return inlined;
}

static enum lock_text named(const char *name)
{
	static const char *const names[] = {
		[SPINLOCK] = "spin", [SPINLOCK_TRY] = "try", [RWLOCK] = "rw", [MUTEX] = "mutex", [RWSEM] = "rwsem",
		[HELPER] = "helper", [RUN_QUEUE] = "queue",
	};

	for (unsigned int text = SPINLOCK; text <= RUN_QUEUE; text++)
		if (!strcmp(names[text], name))
			return text;
	return NO_LOCK;
}

static bool read_range(const char *line)
{
	char name[16];
	uint64_t start, end;

	if (!strncmp(line, "inlined", 7))
		return inlined = true;
	if (nr_ranges == MAX_RANGES || sscanf(line, "%15s %" SCNx64 " %" SCNx64, name, &start, &end) != 3 || named(name) == NO_LOCK ||
	    start >= end || (nr_ranges && ranges[nr_ranges - 1].end > start))
		return false;
	ranges[nr_ranges].start = start;
	ranges[nr_ranges].end = end;
	ranges[nr_ranges++].text = named(name);
	return true;
}

bool read_lock_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[128];
	bool good = file;

	while (good && fgets(line, sizeof(line), file))
		good = read_range(line);
	if (file)
		fclose(file);
	return watches = good;
}

enum lock_text lock_text_at(uint64_t vaddr)
{
	unsigned int low = 0, high = nr_ranges;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (ranges[middle].end <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < nr_ranges && ranges[low].start <= vaddr)
		return ranges[low].text;
	return inlined ? INLINED : NO_LOCK;
}
