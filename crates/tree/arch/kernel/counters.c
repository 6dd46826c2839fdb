// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own statistics, summed over CPUs: what /proc/schedstat and /proc/PID/sched show. Hotplug replaces domains, so what they
 * counted is taken before.
 */
#include "scheduler.h"
#include "machine.h"

static struct sc_counts counts;

#define TAKE(from)	({ u64 __taken = (from); (from) = 0; __taken; })

static void take_domain(struct sched_domain *sd)
{
	static const enum cpu_idle_type types[] = { CPU_IDLE, SC_CPU_NOT_IDLE, CPU_NEWLY_IDLE };
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct sc_balancing *to = &counts.balancing[i];
		enum cpu_idle_type type = types[i];

		to->count += TAKE(sd->lb_count[type]);
		to->balanced += TAKE(sd->lb_balanced[type]);
		to->failed += TAKE(sd->lb_failed[type]);
		to->gained += TAKE(sd->lb_gained[type]);
		to->hot_gained += TAKE(sd->lb_hot_gained[type]);
		to->nobusyg += TAKE(sd->lb_nobusyg[type]);
		to->nobusyq += TAKE(sd->lb_nobusyq[type]);
#if SC_KINDS_OF_IMBALANCE
		to->imbalance += TAKE(sd->lb_imbalance_load[type]) + TAKE(sd->lb_imbalance_util[type]);
		to->imbalance += TAKE(sd->lb_imbalance_task[type]) + TAKE(sd->lb_imbalance_misfit[type]);
#else
		to->imbalance += TAKE(sd->lb_imbalance[type]);
#endif
	}
	counts.alb_count += TAKE(sd->alb_count);
	counts.alb_failed += TAKE(sd->alb_failed);
	counts.alb_pushed += TAKE(sd->alb_pushed);
	counts.affine_moves += TAKE(sd->ttwu_move_affine);
}

/* A task takes its statistics with it. */
void sc_count_task(struct task_struct *task)
{
	counts.affine_attempts += TAKE(task->SC_TASK_STATISTICS.nr_wakeups_affine_attempts);
}

void sc_count_all(void)
{
	struct sched_domain *sd;
	struct task_struct *task;
	int cpu, pid;

	rcu_read_lock();
	for_each_possible_cpu(cpu) {
		for_each_domain(cpu, sd)
			take_domain(sd);
		counts.sched_count += TAKE(cpu_rq(cpu)->sched_count);
		counts.sched_goidle += TAKE(cpu_rq(cpu)->sched_goidle);
	}
	rcu_read_unlock();
	for (pid = 1; pid <= sc_last_pid(); pid++) {
		task = sc_task(pid);
		if (task)
			sc_count_task(task);
	}
}

void sc_count(struct sc_counts *to)
{
	sc_count_all();
	*to = counts;
}

/* Domains are about to be replaced. Looking at what they counted is no work of the machine's. */
int arch_update_cpu_topology(void)
{
	unsigned int looks = sc_looks;
	int looked_at = sc_looked_at;

	sc_count_all();
	sc_looks = looks;
	sc_looked_at = looked_at;
	return 0;
}

void sc_counters_setup(void)
{
	static_branch_enable(&sched_schedstats);
	sc_count_all();
	memset(&counts, 0, sizeof(counts));
}

/* nohz_balancer_kick() has marked the CPU that it interrupts. */
void sc_count_kick(int cpu)
{
#ifdef CONFIG_NO_HZ_COMMON
	if (atomic_read(nohz_flags(cpu)) & NOHZ_KICK_MASK)
		counts.ilb_kicks++;
#endif
}
