// SPDX-License-Identifier: GPL-2.0-only
/* Memory is the host's: slabs, kmalloc() and the per-CPU areas. None fails, none has a node. */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include "machine.h"

struct kmem_cache {
	unsigned int size, align;
	void (*init)(void *);
};

static void *get(size_t size)
{
	return sc_host->alloc(size, 64);
}

static struct kmem_cache *create(unsigned int size, unsigned int align, void (*init)(void *))
{
	struct kmem_cache *cache = get(sizeof(*cache));

	cache->size = size;
	cache->align = align > 64 ? align : 64;
	cache->init = init;
	return cache;
}

static void *get_from(struct kmem_cache *cache)
{
	void *memory = sc_host->alloc(cache->size, cache->align);

	if (cache->init)
		cache->init(memory);
	return memory;
}

void kfree(const void *memory)
{
	if (memory)
		sc_host->free((void *)memory);
}

void kfree_const(const void *memory)
{
	kfree(memory);
}

void kvfree(const void *memory)
{
	kfree(memory);
}

void kmem_cache_free(struct kmem_cache *cache, void *memory)
{
	kfree(memory);
}

#if SC_PROFILED
struct kmem_cache *__kmem_cache_create_args(const char *name, unsigned int size, struct kmem_cache_args *args, slab_flags_t flags)
{
	return create(size, args ? args->align : 0, args ? args->ctor : NULL);
}
void *kmem_cache_alloc_noprof(struct kmem_cache *cache, gfp_t flags) { return get_from(cache); }
void *kmem_cache_alloc_node_noprof(struct kmem_cache *cache, gfp_t flags, int node) { return get_from(cache); }
void *kmem_cache_alloc_lru_noprof(struct kmem_cache *cache, struct list_lru *lru, gfp_t flags) { return get_from(cache); }
void *__kmalloc_noprof(size_t size, gfp_t flags) { return get(size); }
void *__kmalloc_cache_noprof(struct kmem_cache *cache, gfp_t flags, size_t size) { return get(size); }
void *__kmalloc_cache_node_noprof(struct kmem_cache *cache, gfp_t flags, int node, size_t size) { return get(size); }
void *__kmalloc_node_noprof(DECL_BUCKET_PARAMS(size, bucket), gfp_t flags, int node) { return get(size); }
void *__kmalloc_node_track_caller_noprof(DECL_BUCKET_PARAMS(size, bucket), gfp_t flags, int node, unsigned long caller) { return get(size); }
void *__kmalloc_large_noprof(size_t size, gfp_t flags) { return get(size); }
void *kmemdup_noprof(const void *from, size_t size, gfp_t flags) { return memcpy(get(size), from, size); }
void *__kvmalloc_node_noprof(DECL_BUCKET_PARAMS(size, bucket), SC_ALIGN(align) gfp_t flags, int node) { return get(size); }
#else
struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align, slab_flags_t flags, void (*init)(void *))
{
	return create(size, align, init);
}
void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t flags) { return get_from(cache); }
void *kmem_cache_alloc_node(struct kmem_cache *cache, gfp_t flags, int node) { return kmem_cache_alloc(cache, flags); }
void *__kmalloc(size_t size, gfp_t flags) { return get(size); }
void *__kmalloc_node(size_t size, gfp_t flags, int node) { return get(size); }
void *__kmalloc_track_caller(size_t size, gfp_t flags, unsigned long caller) { return get(size); }
void *__kmalloc_node_track_caller(size_t size, gfp_t flags, int node, unsigned long caller) { return get(size); }
#if !SC_SIZE_BY_CACHE
void *kmalloc_large(size_t size, gfp_t flags) { return get(size); }
#endif
void *kmemdup(const void *from, size_t size, gfp_t flags) { return memcpy(get(size), from, size); }
void *kmalloc_trace(struct kmem_cache *cache, gfp_t flags, size_t size) { return get(size); }
void *kmalloc_node_trace(struct kmem_cache *cache, gfp_t flags, int node, size_t size) { return get(size); }
#endif

char *kstrdup(const char *text, gfp_t flags)
{
	return text ? strcpy(get(strlen(text) + 1), text) : NULL;
}

const char *kstrdup_const(const char *text, gfp_t flags)
{
	return kstrdup(text, flags);
}

#if SC_SIZE_BY_CACHE
struct kmem_cache *kmalloc_caches[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1];

static void make_caches(void)
{
	int type, i;

	for (type = 0; type < NR_KMALLOC_TYPES; type++)
		for (i = 1; i <= KMALLOC_SHIFT_HIGH; i++)
			kmalloc_caches[type][i] = create(i == 1 ? 96 : i == 2 ? 192 : 1 << i, 0, NULL);
}
#else
static void make_caches(void)
{
}
#endif

/*
 * Per-CPU areas: a copy of the library's section for each CPU, then room for what is allocated. Their distance is no multiple of a
 * page, so that the run queues do not fall into the same sets of the host's caches.
 */
extern char __per_cpu_start[], __per_cpu_end[];
unsigned long sc_offset_of_cpu[NR_CPUS];

#define ROOM	((256 << 10) + 37 * 256)

static size_t fixed, used;

static void make_percpu(void)
{
	size_t each;
	char *areas;
	int cpu;

	fixed = ALIGN(__per_cpu_end - __per_cpu_start, 4096);
	each = fixed + ROOM;
	areas = sc_host->pages(each * sc_machine->cpus);
	for (cpu = 0; cpu < sc_machine->cpus; cpu++) {
		memcpy(areas + cpu * each, __per_cpu_start, __per_cpu_end - __per_cpu_start);
		sc_offset_of_cpu[cpu] = (unsigned long)(areas + cpu * each - __per_cpu_start);
	}
}

void sc_memory_setup(void)
{
	make_caches();
	make_percpu();
}

static void __percpu *get_percpu(size_t size, size_t align)
{
	used = ALIGN(used, align) + size;
	if (used > ROOM)
		panic("the per-CPU areas are full: %zu bytes more", size);
	return (void __percpu *)(__per_cpu_start + fixed + used - size);
}

#if SC_PROFILED
void __percpu *pcpu_alloc_noprof(size_t size, size_t align, bool reserved, gfp_t flags) { return get_percpu(size, align); }
#else
void __percpu *__alloc_percpu(size_t size, size_t align) { return get_percpu(size, align); }
void __percpu *__alloc_percpu_gfp(size_t size, size_t align, gfp_t flags) { return get_percpu(size, align); }
#endif

void free_percpu(void __percpu *memory)
{
}
