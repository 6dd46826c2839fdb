/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine as the simulator describes it. Masks that a level of domains spans are in sc_levels. */
#ifndef _ASM_TOPOLOGY_H
#define _ASM_TOPOLOGY_H
#include <linux/cpumask.h>

struct sc_place {
	int core, cluster, package, node;
	unsigned long capacity, frequency;
	int priority;
	/* CPUs of the core as the scheduler takes it (cpu_smt_mask), of the cluster and of the package. */
	struct cpumask smt, cluster_cpus, package_cpus, llc;
};
extern struct sc_place sc_places[];
extern struct cpumask sc_node_cpus[];
extern int sc_node_distance(int from, int to);

#define topology_physical_package_id(cpu)	(sc_places[cpu].package)
#define topology_core_id(cpu)			(sc_places[cpu].core)
#define topology_cluster_id(cpu)		(sc_places[cpu].cluster)
#define topology_sibling_cpumask(cpu)		(&sc_places[cpu].smt)
#define topology_cluster_cpumask(cpu)		(&sc_places[cpu].cluster_cpus)
#define topology_core_cpumask(cpu)		(&sc_places[cpu].package_cpus)

static inline const struct cpumask *cpu_coregroup_mask(int cpu) { return &sc_places[cpu].llc; }
static inline const struct cpumask *cpu_clustergroup_mask(int cpu) { return &sc_places[cpu].cluster_cpus; }
#define cpu_coregroup_mask	cpu_coregroup_mask

#define cpu_to_node(cpu)	(sc_places[cpu].node)
#define cpumask_of_node(node)	((node) < 0 ? cpu_all_mask : (const struct cpumask *)&sc_node_cpus[node])
#define node_distance(a, b)	sc_node_distance(a, b)
#define pcibus_to_node(bus)	(-1)
#define cpumask_of_pcibus(bus)	cpu_all_mask

#define arch_scale_cpu_capacity(cpu)	(sc_places[cpu].capacity)
#define arch_scale_freq_capacity(cpu)	(sc_places[cpu].frequency)
extern bool sc_freq_invariant;
#define arch_scale_freq_invariant()	sc_freq_invariant
#include <asm-generic/topology.h>
#endif
