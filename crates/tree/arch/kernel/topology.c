// SPDX-License-Identifier: GPL-2.0-only
/* The machine's shape: where CPUs are, and the levels of domains of its architecture. */
#include <linux/sched/topology.h>
#include <linux/cacheinfo.h>
#include <linux/nodemask.h>
#include "machine.h"

#define MOST_LEVELS	8

struct sc_place sc_places[NR_CPUS];
struct cpumask sc_node_cpus[MAX_NUMNODES];
nodemask_t node_states[NR_NODE_STATES];
unsigned int nr_node_ids = 1;
#if SC_HAS_RECLAIM_DISTANCE
int node_reclaim_distance = RECLAIM_DISTANCE;
#endif

/* As the machine is built, and with its online CPUs alone. */
static struct cpumask *level_whole[MOST_LEVELS], *level_masks[MOST_LEVELS];
static struct sc_place *whole;
static struct sched_domain_topology_level levels[MOST_LEVELS + 1];

int sc_node_distance(int from, int to)
{
	return sc_machine->distances[from * sc_machine->nodes + to];
}

void sc_copy_mask(struct cpumask *to, const sc_u64 *from)
{
	int cpu;

	cpumask_clear(to);
	for (cpu = 0; cpu < sc_machine->cpus; cpu++)
		if (from[cpu / 64] >> (cpu % 64) & 1)
			cpumask_set_cpu(cpu, to);
}

static int level_flags(int level)
{
	sc_u32 flags = sc_machine->level[level].flags;
	int sd = 0;

	if (flags & SC_LEVEL_SHARES_CAPACITY)
		sd |= SD_SHARE_CPUCAPACITY;
	if (flags & SC_LEVEL_SHARES_LLC)
		sd |= SD_SHARE_LLC;
	if (flags & SC_LEVEL_SHARES_CLUSTER)
		sd |= SD_CLUSTER;
	if (flags & SC_LEVEL_ASYM_PACKING)
		sd |= SD_ASYM_PACKING;
	return sd;
}

/* The kernel asks a level by functions of a CPU, so each has its own two. */
#define LEVEL(n)									\
static const struct cpumask *mask_##n(SC_MASK_OF(cpu)) { return &level_masks[n][cpu]; }		\
static int flags_##n(void) { return level_flags(n); }

LEVEL(0) LEVEL(1) LEVEL(2) LEVEL(3) LEVEL(4) LEVEL(5) LEVEL(6) LEVEL(7)

static const sched_domain_mask_f masks[] = { mask_0, mask_1, mask_2, mask_3, mask_4, mask_5, mask_6, mask_7 };
static const sched_domain_flags_f flags[] = { flags_0, flags_1, flags_2, flags_3, flags_4, flags_5, flags_6, flags_7 };

/* Nodes, places and levels, before the kernel looks at any. No CPU is in a mask yet. */
void sc_masks_setup(void)
{
	const struct sc_machine *m = sc_machine;
	int words = (m->cpus + 63) / 64, cpu, node, state, level;

	if (m->levels > MOST_LEVELS)
		panic("%u levels of domains, expected at most %d", m->levels, MOST_LEVELS);
	nr_node_ids = m->nodes;
	node_reclaim_distance = m->reclaim_distance;
	for (node = 0; node < m->nodes; node++)
		for (state = 0; state < NR_NODE_STATES; state++)
			if (state != N_CPU)
				node_set(node, node_states[state]);
	whole = sc_host->alloc(m->cpus * sizeof(*whole), 64);
	for (cpu = 0; cpu < m->cpus; cpu++) {
		const struct sc_cpu_place *from = &m->places[cpu];
		struct sc_place *place = &sc_places[cpu];

		place->core = from->core;
		place->cluster = from->cluster;
		place->package = from->package;
		place->node = from->node;
		place->capacity = from->capacity;
		place->frequency = SCHED_CAPACITY_SCALE;
		place->priority = from->priority;
		sc_copy_mask(&whole[cpu].smt, from->smt);
		sc_copy_mask(&whole[cpu].cluster_cpus, from->cluster_cpus);
		sc_copy_mask(&whole[cpu].package_cpus, from->package_cpus);
		sc_copy_mask(&whole[cpu].llc, from->llc);
		cpumask_set_cpu(cpu, &sc_node_cpus[place->node]);
		node_set(place->node, node_states[N_CPU]);
	}
	for (level = 0; level < m->levels; level++) {
		level_whole[level] = sc_host->alloc(m->cpus * sizeof(struct cpumask), 64);
		level_masks[level] = sc_host->alloc(m->cpus * sizeof(struct cpumask), 64);
		for (cpu = 0; cpu < m->cpus; cpu++)
			sc_copy_mask(&level_whole[level][cpu], m->level[level].masks + cpu * words);
	}
}

/* A CPU comes online, or goes: it joins the masks of all that it shares something with, and they its own. */
static void put(int cpu, bool here, const struct cpumask *all, struct cpumask *mine, struct cpumask *(*of)(int, int), int which)
{
	int other;

	cpumask_clear(mine);
	for_each_cpu(other, all) {
		if (other != cpu && !cpu_online(other))
			continue;
		if (here) {
			cpumask_set_cpu(other, mine);
			cpumask_set_cpu(cpu, of(which, other));
		} else {
			cpumask_clear_cpu(cpu, of(which, other));
		}
	}
	cpumask_set_cpu(cpu, mine);
}

static struct cpumask *of_place(int which, int cpu)
{
	struct sc_place *place = &sc_places[cpu];

	return which == 0 ? &place->smt : which == 1 ? &place->cluster_cpus : which == 2 ? &place->package_cpus : &place->llc;
}

static struct cpumask *of_level(int level, int cpu)
{
	return &level_masks[level][cpu];
}

void sc_topology_shows(int cpu, bool here)
{
	const struct sc_place *all = &whole[cpu];
	const struct cpumask *masks[] = { &all->smt, &all->cluster_cpus, &all->package_cpus, &all->llc };
	int i;

	for (i = 0; i < ARRAY_SIZE(masks); i++)
		put(cpu, here, masks[i], of_place(i, cpu), of_place, i);
	for (i = 0; i < sc_machine->levels; i++)
		put(cpu, here, &level_whole[i][cpu], &level_masks[i][cpu], of_level, i);
}

/* The architecture's level table (set_sched_topology()). */
void sc_topology_setup(void)
{
	int level;

	for (level = 0; level < sc_machine->levels; level++)
		levels[level] = (struct sched_domain_topology_level) {
			.mask = masks[level],
			.sd_flags = flags[level],
			.name = (char *)sc_machine->level[level].name,
		};
	set_sched_topology(levels);
}

/* The lower, the less preferred. */
int arch_asym_cpu_priority(int cpu)
{
	return sc_places[cpu].priority;
}

/* drivers/base/cacheinfo.c, which 7.3 asks for the size of an LLC. */
struct cacheinfo *get_cpu_cacheinfo_llc(unsigned int cpu)
{
	static struct cacheinfo llcs[NR_CPUS];
	u64 bytes = sc_machine->places[cpu].llc_bytes;

	if (!bytes)
		return NULL;
	llcs[cpu].size = bytes;
	cpumask_copy(&llcs[cpu].shared_cpu_map, &sc_places[cpu].llc);
	return &llcs[cpu];
}
