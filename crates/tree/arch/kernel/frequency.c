// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks: the simulator says what a CPU's is in relation to its highest. Where its own governors are to govern (cpufreq.c has the
 * kernel's), it hears of each change of utilisation, as governors do.
 */
#include <linux/sched/cpufreq.h>
#include "scheduler.h"
#include "machine.h"

static struct update_util_data watchers[NR_CPUS];

static void changed(struct update_util_data *watcher, u64 time, unsigned int flags)
{
	sc_host->event(SC_EVENT_UTIL, watcher - watchers, !!(flags & SCHED_CPUFREQ_IOWAIT),
		       smp_processor_id());
}

void sc_watch_util(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		cpufreq_add_update_util_hook(cpu, &watchers[cpu], changed);
}

/* What schedutil asks for. */
sc_u64 sc_util(sc_u32 cpu)
{
	return sc_governors_util(cpu);
}

void sc_set_frequency(sc_u32 cpu, sc_u64 scale)
{
	sc_places[cpu].frequency = scale;
}

void sc_clamps_of(sc_u32 cpu, struct sc_clamps *clamps)
{
	*clamps = (struct sc_clamps) { 0, SCHED_CAPACITY_SCALE };
#ifdef CONFIG_UCLAMP_TASK
	clamps->min = READ_ONCE(cpu_rq(cpu)->uclamp[UCLAMP_MIN].value);
	clamps->max = READ_ONCE(cpu_rq(cpu)->uclamp[UCLAMP_MAX].value);
#endif
}
