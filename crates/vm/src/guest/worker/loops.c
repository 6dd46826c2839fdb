/* Loops of threads that never sleep: ebizzy's and the clusters study's. */
#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ebizzy 0.3: every thread copies a chunk into fresh memory and searches the copy, round after round. */
struct chunks {
	_Alignas(APART) atomic_bool go;
	_Alignas(APART) uint64_t **chunk;
	size_t bytes;
	size_t records;
};

struct searcher {
	_Alignas(APART) uint64_t records;
	struct chunks *chunks;
	uint64_t random;
};

static size_t search(const uint64_t *sorted, size_t count, uint64_t key)
{
	size_t low = 0, high = count;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void *searching(void *of)
{
	struct searcher *self = of;
	struct chunks *all = self->chunks;

	while (!atomic_load_explicit(&all->go, memory_order_acquire))
		;
	while (atomic_load_explicit(&all->go, memory_order_relaxed)) {
		/* The program's random number: from a state of 0 it stays 0, so it is always the first chunk and key. */
		uint64_t key = self->random *= UINT64_C(1103515245);
		uint64_t *copy = malloc(all->bytes);

		if (!copy)
			die(errno, "memory: %zu bytes", all->bytes);
		memcpy(copy, all->chunk[key], all->bytes);
		/* The compiler must not see through the copy. */
		__asm__ volatile("" : : "r"(copy) : "memory");
		if (copy[search(copy, all->records, key)] != key)
			die(0, "ebizzy: the key is not where it was");
		free(copy);
		self->records++;
	}
	return NULL;
}

void ebizzy(struct arguments *all)
{
	size_t threads = whole(all, "threads", 1, 1024);
	double seconds = number(all, "seconds", 1e-6, 3600);
	size_t bytes = whole(all, "chunk_bytes", 8, UINT32_MAX);
	size_t chunks = whole(all, "chunks", 1, UINT32_MAX);
	struct chunks *shared = zeros(sizeof(*shared));
	struct searcher *searchers = zeros(threads * sizeof(*searchers));
	pthread_t *running = zeros(threads * sizeof(*running));
	uint64_t from_ns, to_ns, records = 0;

	no_more(all);
	shared->bytes = bytes;
	shared->records = bytes / sizeof(uint64_t);
	shared->chunk = zeros(chunks * sizeof(*shared->chunk));
	for (size_t nth = 0; nth < chunks; nth++) {
		shared->chunk[nth] = malloc(bytes);
		if (!shared->chunk[nth])
			die(errno, "memory: chunk %zu of %zu bytes", nth, bytes);
		memset(shared->chunk[nth], 0, bytes);
		for (size_t at = 0; at < shared->records; at++)
			shared->chunk[nth][at] = at;
	}
	for (size_t nth = 0; nth < threads; nth++) {
		searchers[nth].chunks = shared;
		running[nth] = start(searching, &searchers[nth]);
	}
	from_ns = now_ns();
	atomic_store_explicit(&shared->go, true, memory_order_release);
	sleep_ns((uint64_t)(seconds * 1e9));
	atomic_store_explicit(&shared->go, false, memory_order_relaxed);
	to_ns = now_ns();
	for (size_t nth = 0; nth < threads; nth++) {
		join(running[nth]);
		records += searchers[nth].records;
	}
	result("records_per_s", (double)records * 1e9 / (double)(to_ns - from_ns));
}

/* Two threads on two words of one line. */
static struct {
	_Alignas(APART) volatile uint32_t loaded;
	volatile uint32_t incremented;
	_Alignas(APART) uint32_t rounds;
} line;

static void *loading(void *of)
{
	for (uint32_t left = line.rounds; left; left--)
		(void)line.loaded;
	return of;
}

static void *incrementing(void *of)
{
	for (uint32_t left = line.rounds; left; left--)
		line.incremented++;
	return of;
}

void false_sharing(struct arguments *all)
{
	pthread_t loads, increments;
	uint64_t from_ns;

	line.rounds = (uint32_t)whole(all, "rounds", 1, UINT32_MAX);
	no_more(all);
	from_ns = now_ns();
	loads = start(loading, NULL);
	increments = start(incrementing, NULL);
	join(loads);
	join(increments);
	result("seconds", (double)(now_ns() - from_ns) / 1e9);
	if (line.incremented != line.rounds)
		die(0, "false_sharing: counted %u, expected %u", line.incremented, line.rounds);
}
