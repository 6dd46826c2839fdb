// SPDX-License-Identifier: GPL-2.0-only
/* What a decision of the fair class is made from: queues, tasks, caches, as they stand. */
#include "scheduler.h"
#include "machine.h"
#include "state.h"

static struct sc_averages averages(const struct sched_avg *avg)
{
	return (struct sc_averages){ avg->load_avg, avg->runnable_avg, avg->util_avg };
}

static sc_s64 pid_of(struct sched_entity *entity)
{
	return entity ? container_of(entity, struct task_struct, se)->pid : 0;
}

static void llc_state(int cpu, struct sc_queue_state *to)
{
	struct sched_domain_shared *shared = rcu_dereference_raw(per_cpu(sd_llc_shared, cpu));

	if (!shared)
		return;
	to->llc_busy = atomic_read(&shared->nr_busy_cpus);
	to->llc_idle_cores = shared->has_idle_cores;
	to->llc_scan = sc_idle_scan(shared);
}

static void domain_state(int cpu, struct sc_queue_state *to)
{
	struct sched_domain *sd;
	int level = 0;

	for_each_domain(cpu, sd) {
		if (sd->groups->sgc->imbalance)
			to->imbalanced |= 1ull << level;
		level++;
	}
	sd = rcu_dereference_raw(per_cpu(sd_llc, cpu));
	if (sd)
		to->avg_scan_cost_ns = sc_scan_cost(sd);
}

void sc_queue_state(sc_u32 cpu, struct sc_queue_state *to, sc_s64 *waiting, sc_u32 most)
{
	struct rq *rq = cpu_rq(cpu);
	struct cfs_rq *cfs = &rq->cfs;
	struct rb_node *node;

	memset(to, 0, sizeof(*to));
	to->current_task = rq->curr->pid;
	to->current_fair = pid_of(cfs->curr);
	to->nr_running = rq->nr_running;
	to->nr_queued = cfs->SC_NR_QUEUED;
	to->nr_delayed = sc_nr_delayed(cfs);
	to->wakeup_pending = rq->ttwu_pending;
	to->weight = scale_load_down(cfs->load.weight);
	sc_virtual_time(cfs, to);
	sc_buddies(cfs, to);
	to->averages = averages(&cfs->avg);
#ifdef CONFIG_FAIR_GROUP_SCHED
	to->h_load = cfs->h_load;
	to->h_load_tick = cfs->last_h_load_update;
#else
	to->h_load_tick = ~0ull;
#endif
	to->util_est = cfs->avg.SC_UTIL_EST;
	to->avg_idle_ns = rq->avg_idle;
	to->idle_since_ns = rq->idle_stamp;
	sc_wake_idle(rq, to);
	to->capacity = rq->cpu_capacity;
	to->idle_state = sc_contexts[cpu].idle_state;
	for (node = rb_first_cached(&cfs->tasks_timeline); node && to->waiting < most; node = rb_next(node))
		waiting[to->waiting++] = pid_of(rb_entry(node, struct sched_entity, run_node));
	rcu_read_lock();
	llc_state(cpu, to);
	domain_state(cpu, to);
	rcu_read_unlock();
}

void sc_task_state(sc_s64 pid, struct sc_task_state *to, const unsigned long **mask)
{
	struct task_struct *task = sc_task(pid);
	struct sched_entity *se = &task->se;

	memset(to, 0, sizeof(*to));
	*mask = cpumask_bits(task->cpus_ptr);
	to->last_wakee = task->last_wakee ? task->last_wakee->pid : 0;
	to->cpu = task_cpu(task);
	to->on_rq = se->on_rq;
	to->attached = se->avg.last_update_time != 0;
	to->weight = scale_load_down(se->load.weight);
	to->vruntime = se->vruntime;
	sc_request(se, to);
	to->exec_start_ns = se->exec_start;
	to->sum_exec_ns = se->sum_exec_runtime;
	to->prev_sum_exec_ns = se->prev_sum_exec_runtime;
	to->averages = averages(&se->avg);
	sc_task_util_est(se, to);
	to->wakee_flips = task->wakee_flips;
	to->flip_decay = task->wakee_flip_decay_ts;
	to->recent_used_cpu = task->recent_used_cpu;
}
