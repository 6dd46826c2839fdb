// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a queue is what it says: its sums, and the same as counted from the tasks that it has. Nothing here changes anything, so a
 * run that is looked at is the same run.
 */
#include "scheduler.h"
#include "machine.h"
#include "state.h"

/* What is being looked at: a CPU, and where what is found goes. */
struct look {
	struct rq *rq;
	struct sc_sums *to;
	struct sc_queued *queued;
	sc_u32 count, most;
	bool differs;		/* weights and virtual runtimes are those of a queue that is wrong */
};

/* A queue of the fair class: the root's or a group's. */
struct place {
	struct cfs_rq *cfs;
	sc_u32 group, depth;
	sc_u64 parts;
	sc_u64 quota_ns, period_ns;
	bool throttled;
};

static bool is_task(struct sched_entity *se)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	return !se->my_q;
#else
	return true;
#endif
}

static sc_u64 parts_of(struct sched_entity *se, struct cfs_rq *cfs, sc_u64 parts)
{
	return se->load.weight ? parts * cfs->load.weight / se->load.weight : parts;
}

static void describe(struct look *look, struct task_struct *task, const struct place *at)
{
	struct sched_entity *se = &task->se;
	struct sc_task_state state = { };
	struct sc_queued *to;
	int cpu;

	if (look->count >= look->most)
		return;
	to = &look->queued[look->count++];
	sc_request(se, &state);
	*to = (struct sc_queued) {
		.pid = task->pid,
		.running = task == look->rq->curr,
		.delayed = state.delayed,
		.attached = se->avg.last_update_time != 0,
		.weight = se->load.weight,
		.slice_ns = state.slice_ns,
		.sum_exec_ns = se->sum_exec_runtime,
		.load_avg = se->avg.load_avg,
		.util_avg = se->avg.util_avg,
		.group = at->group,
		.depth = at->depth,
		.parts = parts_of(se, at->cfs, at->parts),
		.quota_ns = at->quota_ns,
		.period_ns = at->period_ns,
		.throttled = at->throttled,
	};
	for_each_cpu(cpu, task->cpus_ptr)
		if (cpu < SC_MASK_WORDS * 64)
			to->mask[cpu / 64] |= 1ull << cpu % 64;
	/* The running one comes first. */
	if (to->running)
		swap(*to, look->queued[0]);
}

/* A task with a deadline is in its queue's tree while it runs, and not while it has used up its runtime. */
static sc_u64 with_deadlines(struct rq *rq)
{
	struct rb_node *node;
	sc_u64 count = 0;

	for (node = rb_first_cached(&rq->dl.root); node; node = rb_next(node)) {
#ifdef SC_HAS_dl_server
		if (rb_entry(node, struct sched_dl_entity, rb_node)->dl_server)
			continue;
#endif
		count++;
	}
	return count;
}

/* Tasks of real time, unless their class has used up its time, and the stopper. */
static sc_u64 of_real_time(struct rq *rq)
{
	return (rt_rq_is_runnable(&rq->rt) ? rq->rt.rt_nr_running : 0) + (rq->stop && rq->stop->on_rq == TASK_ON_RQ_QUEUED);
}

static bool is_outranked(struct rq *rq, sc_u64 deadlines)
{
	struct task_struct *curr = rq->curr;

	if (curr == rq->stop || curr->policy == SCHED_DEADLINE)
		return false;
	return deadlines || (rt_rq_is_runnable(&rq->rt) && rq->rt.highest_prio.curr < curr->prio);
}

static sc_u64 listed(struct rq *rq, sc_u32 most)
{
	struct list_head *at;
	sc_u64 count = 0;

	/* A list that is broken may have no end. */
	for (at = rq->cfs_tasks.next; at != &rq->cfs_tasks && count <= most; at = at->next)
		count++;
	return count;
}

static void count_virtual(struct cfs_rq *cfs, struct sched_entity *se, struct sc_sums *to)
{
#if (defined(SC_HAS_sum_w_vruntime) || defined(SC_HAS_avg_vruntime)) && !defined(SC_HAS_sum_shift)
	struct sc_queue_state state = { };
	sc_u64 weight = scale_load_down(se->load.weight);

	sc_virtual_time(cfs, &state);
	to->counted_weight_waiting += weight;
	to->counted_weighted_vruntime += (sc_s64)(se->vruntime - state.min_vruntime) * (sc_s64)weight;
#endif
}

static void told_virtual(struct cfs_rq *cfs, struct sc_sums *to)
{
#if (defined(SC_HAS_sum_w_vruntime) || defined(SC_HAS_avg_vruntime)) && !defined(SC_HAS_sum_shift)
	struct sc_queue_state state = { };

	sc_virtual_time(cfs, &state);
	to->weight_waiting = state.weight_waiting;
	to->weighted_vruntime = state.weighted_vruntime;
#endif
}

static bool are_wrong(const struct sc_sums *sums)
{
	return sums->weight != sums->counted_weight || sums->weight_waiting != sums->counted_weight_waiting ||
	       sums->weighted_vruntime != sums->counted_weighted_vruntime;
}

static void take_weights(struct look *look, const struct sc_sums *sums, sc_u32 group)
{
	struct sc_sums *to = look->to;

	if (look->differs || (group && !are_wrong(sums)))
		return;
	look->differs = are_wrong(sums);
	to->group = group;
	to->weight = sums->weight;
	to->counted_weight = sums->counted_weight;
	to->weight_waiting = sums->weight_waiting;
	to->counted_weight_waiting = sums->counted_weight_waiting;
	to->weighted_vruntime = sums->weighted_vruntime;
	to->counted_weighted_vruntime = sums->counted_weighted_vruntime;
}

static void look_at_entity(struct look *look, struct sched_entity *se, const struct place *at, struct sc_sums *sums)
{
	sums->counted_weight += se->load.weight;
	if (!is_task(se))
		return;
	describe(look, container_of(se, struct task_struct, se), at);
	look->to->counted_listed++;
	/* Where tasks are throttled one by one, those that are still in a tree are queued. */
#ifndef SC_HAS_throttled_limbo_list
	if (at->throttled)
		return;
#endif
	look->to->counted_queued++;
}

/* A release in which all tasks are in the root's tree, and groups below a group are in none. */
#if defined(SC_HAS_h_curr) && defined(CONFIG_FAIR_GROUP_SCHED)
static struct cfs_rq *tree_of(struct look *look, struct cfs_rq *cfs)
{
	return &look->rq->cfs;
}

static bool is_in(struct sched_entity *se, struct cfs_rq *cfs)
{
	return se->cfs_rq == cfs;
}

static void look_at_groups_below(struct look *look, const struct place *at, struct sc_sums *sums)
{
	struct task_group *tg;

	list_for_each_entry(tg, &task_groups, list) {
		struct sched_entity *se = tg_se(tg, cpu_of(look->rq));

		if (se && se->on_rq && is_in(se, at->cfs))
			look_at_entity(look, se, at, sums);
	}
}
#else
static struct cfs_rq *tree_of(struct look *look, struct cfs_rq *cfs)
{
	return cfs;
}

static bool is_in(struct sched_entity *se, struct cfs_rq *cfs)
{
	return true;
}

static void look_at_groups_below(struct look *look, const struct place *at, struct sc_sums *sums)
{
}
#endif

static void look_at_queue(struct look *look, const struct place *at)
{
	struct cfs_rq *cfs = at->cfs, *tree = tree_of(look, cfs);
	struct sc_sums sums = { .weight = cfs->load.weight };
	struct rb_node *node;

	told_virtual(cfs, &sums);
	if (tree->curr && tree->curr->on_rq && is_in(tree->curr, cfs))
		look_at_entity(look, tree->curr, at, &sums);
	for (node = rb_first_cached(&tree->tasks_timeline); node && look->count < look->most; node = rb_next(node)) {
		struct sched_entity *se = rb_entry(node, struct sched_entity, run_node);

		if (!is_in(se, cfs))
			continue;
		count_virtual(cfs, se, &sums);
		look_at_entity(look, se, at, &sums);
	}
	look_at_groups_below(look, at, &sums);
#ifdef SC_HAS_throttled_limbo_list
	{
		struct task_struct *task;

		/* They have left the tree until there is quota again. */
		list_for_each_entry(task, &cfs->throttled_limbo_list, throttle_node)
			describe(look, task, at);
	}
#endif
	take_weights(look, &sums, at->group);
}

#ifdef CONFIG_FAIR_GROUP_SCHED
static void find_quota(struct place *at, struct task_group *tg)
{
#ifdef CONFIG_CFS_BANDWIDTH
	at->throttled = at->cfs->throttle_count;
	for (; tg; tg = tg->parent) {
		struct cfs_bandwidth *quota = &tg->cfs_bandwidth;

		if (quota->quota == RUNTIME_INF)
			continue;
		at->period_ns = max_t(sc_u64, at->period_ns, ktime_to_ns(quota->period));
		at->quota_ns = min_t(sc_u64, at->quota_ns ?: quota->quota, quota->quota);
	}
#endif
}

static void look_at_groups(struct look *look, int cpu)
{
	struct task_group *tg;
	sc_u32 group = 0;

	list_for_each_entry(tg, &task_groups, list) {
		struct place at = { .group = ++group, .depth = 1, .parts = 1024 };
		struct sched_entity *se;

		if (tg == &root_task_group)
			continue;
		at.cfs = tg_cfs_rq(tg, cpu);
		for (se = tg_se(tg, cpu); se; se = se->parent) {
			at.parts = parts_of(se, se->cfs_rq, at.parts);
			at.depth++;
		}
		find_quota(&at, tg);
		look_at_queue(look, &at);
	}
}
#else
static void look_at_groups(struct look *look, int cpu)
{
}
#endif

sc_u32 sc_sums(sc_u32 cpu, struct sc_sums *to, struct sc_queued *queued, sc_u32 most)
{
	unsigned int looks = sc_looks;
	int looked_at = sc_looked_at;
	struct rq *rq = cpu_rq(cpu);
	struct cfs_rq *cfs = &rq->cfs;
	struct look look = { .rq = rq, .to = to, .queued = queued, .most = most };
	struct place root = { .cfs = cfs, .depth = 1, .parts = 1024 };
	sc_u64 deadlines = with_deadlines(rq);

	memset(to, 0, sizeof(*to));
	to->nr_running = rq->nr_running;
	to->servers = rq->dl.dl_nr_running - deadlines;
	to->nr_queued = cfs->SC_NR_QUEUED;
	to->listed = listed(rq, most);
	to->averages = (struct sc_averages){ cfs->avg.load_avg, cfs->avg.runnable_avg, cfs->avg.util_avg };
	to->avg_idle_ns = rq->avg_idle;
	to->wakeup_pending = rq->ttwu_pending;
	to->active = cpu_active(cpu);
	to->outranked = is_outranked(rq, deadlines);
	look_at_queue(&look, &root);
	look_at_groups(&look, cpu);
	to->counted_running = to->counted_queued + of_real_time(rq) + deadlines;
	sc_looks = looks;
	sc_looked_at = looked_at;
	return look.count;
}
