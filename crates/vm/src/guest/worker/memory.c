/* Work that uses memory: touches of a working set, and bytes that are read once. */
#include "fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
/* What is read once comes from a buffer of the process, in which each thread goes round by itself: more than most caches hold. */
#define ONCE_BYTES ((size_t)64 << 20)
/* Memory is used between pieces of work as short as this. */
#define PIECE_US 20.0

static _Atomic(volatile char *) once;

struct footprint footprint(const char *text)
{
	struct footprint found = { 0, 0, 0, "default" };
	int end = -1;

	if (!strcmp(text, "none"))
		return found;
	if (sscanf(text, "%lf:%lf:%lf:%63[^:]%n", &found.set_kib, &found.touches_per_us, &found.gb_per_s, found.placement, &end) == 4 &&
	    end >= 0 && !text[end])
		return found;
	die(0, "memory: found %s, expected none or KIB:TOUCHES_PER_US:GB_PER_S:PLACEMENT", text);
}

static volatile char *touched(size_t bytes)
{
	volatile char *found = zeros(bytes);

	/* A page that is only read is one that all share. */
	for (size_t at = 0; at < bytes; at += 4096)
		found[at] = 1;
	return found;
}

void own(struct memory *memory, struct footprint use, uint64_t nth)
{
	*memory = (struct memory){ .use = use };
	seed(&memory->random, nth);
	place_memory(use.placement);
	if (use.touches_per_us > 0)
		memory->set = touched((size_t)(use.set_kib * 1024));
	if (use.gb_per_s > 0) {
		if (!atomic_load(&once)) {
			volatile char *mine = touched(ONCE_BYTES), *none = NULL;

			/* Who comes second leaves its own unused. */
			atomic_compare_exchange_strong(&once, &none, mine);
		}
		memory->at = (size_t)(unit(&memory->random) * ONCE_BYTES) / LINE * LINE;
	}
}

static void use(struct memory *memory, double us)
{
	size_t lines = (size_t)(memory->use.set_kib * 1024 / LINE);
	volatile char *buffer = atomic_load(&once);

	memory->touches += us * memory->use.touches_per_us;
	for (; memory->touches >= 1; memory->touches--)
		(void)memory->set[(size_t)(unit(&memory->random) * (double)lines) * LINE];
	memory->bytes += us * memory->use.gb_per_s * 1e3;
	for (; memory->bytes >= LINE; memory->bytes -= LINE) {
		(void)buffer[memory->at];
		memory->at = (memory->at + LINE) % ONCE_BYTES;
	}
}

void work(struct memory *memory, double us)
{
	if (memory->use.touches_per_us <= 0 && memory->use.gb_per_s <= 0) {
		work_us(us);
		return;
	}
	while (us > 0) {
		double piece = us < PIECE_US ? us : PIECE_US;

		work_us(piece);
		use(memory, piece);
		us -= piece;
	}
}
