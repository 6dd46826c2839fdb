// SPDX-License-Identifier: GPL-2.0-only
/* Clocks: the simulator says what a CPU's is in relation to its highest, and hears of each change of utilisation, as governors do. */
#include <linux/sched/cpufreq.h>
#include "scheduler.h"
#include "machine.h"

/* Nothing caps the clocks of CPUs (drivers/cpufreq, from 6.10 on). */
DEFINE_PER_CPU(unsigned long, cpufreq_pressure);

static struct update_util_data watchers[NR_CPUS];

static void changed(struct update_util_data *watcher, u64 time, unsigned int flags)
{
	sc_host->event(SC_EVENT_UTIL, watcher - watchers, !!(flags & SCHED_CPUFREQ_IOWAIT), 0);
}

void sc_watch_util(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		cpufreq_add_update_util_hook(cpu, &watchers[cpu], changed);
}

/* cpu_util_cfs() */
sc_u64 sc_util(sc_u32 cpu)
{
	const struct sched_avg *avg = &cpu_rq(cpu)->cfs.avg;
	unsigned long util = READ_ONCE(avg->util_avg);

	return max_t(unsigned long, util, READ_ONCE(avg->SC_UTIL_EST));
}

void sc_set_frequency(sc_u32 cpu, sc_u64 scale)
{
	sc_places[cpu].frequency = scale;
}
