/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where releases differ in what decisions are made from. Stable releases get members of later ones, so the build looks for the
 * members themselves (SC_HAS_...).
 */
#ifndef SC_STATE_H
#define SC_STATE_H

#ifdef SC_HAS_h_nr_queued
#define SC_NR_QUEUED	h_nr_queued
#else
#define SC_NR_QUEUED	h_nr_running
#endif

/* What a group has on a CPU has functions of its own. */
#ifndef SC_HAS_tg_cfs_rq
#define tg_cfs_rq(tg, cpu)	((tg)->cfs_rq[cpu])
#define tg_se(tg, cpu)		((tg)->se[cpu])
#endif

/* Tasks that sleep and have not left their queue. */
#ifdef SC_HAS_h_nr_runnable
#define sc_nr_delayed(cfs)	((cfs)->h_nr_queued - (cfs)->h_nr_runnable)
#else
#define sc_nr_delayed(cfs)	0
#endif

#ifdef SC_HAS_nr_idle_scan
#define sc_idle_scan(shared)	((shared)->nr_idle_scan)
#else
#define sc_idle_scan(shared)	0
#endif

#ifdef SC_HAS_avg_scan_cost
#define sc_scan_cost(sd)	((sd)->avg_scan_cost)
#else
#define sc_scan_cost(sd)	0
#endif

static inline void sc_wake_idle(struct rq *rq, struct sc_queue_state *to)
{
#ifdef SC_HAS_wake_avg_idle
	to->wake_avg_idle_ns = rq->wake_avg_idle;
	to->wake_stamp = rq->wake_stamp;
#endif
}

/* The time that virtual runtimes are measured against, and their weighted sum. */
static inline void sc_virtual_time(struct cfs_rq *cfs, struct sc_queue_state *to)
{
#ifdef SC_HAS_zero_vruntime
	to->min_vruntime = cfs->zero_vruntime;
#else
	to->min_vruntime = cfs->min_vruntime;
#endif
#if defined(SC_HAS_sum_w_vruntime)
	to->weighted_vruntime = cfs->sum_w_vruntime;
	to->weight_waiting = cfs->sum_weight;
#elif defined(SC_HAS_avg_vruntime)
	to->weighted_vruntime = cfs->avg_vruntime;
	to->weight_waiting = cfs->avg_load;
#endif
}

static inline void sc_buddies(struct cfs_rq *cfs, struct sc_queue_state *to)
{
#define SC_PID(entity)	((entity) ? container_of(entity, struct task_struct, se)->pid : 0)
	to->next = SC_PID(cfs->next);
#ifndef SC_HAS_vlag
	to->last = SC_PID(cfs->last);
	to->skip = SC_PID(cfs->skip);
#endif
}

/* EEVDF's request. A task that runs is protected while it has the deadline that its lag keeps a copy of. */
static inline void sc_request(struct sched_entity *se, struct sc_task_state *to)
{
#ifdef SC_HAS_vlag
	to->deadline = se->deadline;
	to->slice_ns = se->slice;
	to->lag = se->vlag;
#ifdef SC_HAS_vprot
	to->protected = se->vprot;
#else
	to->protected = se->vlag;
#endif
#endif
#ifdef SC_HAS_sched_delayed
	to->delayed = se->sched_delayed;
#endif
#ifdef SC_HAS_custom_slice
	to->custom_slice = se->custom_slice;
#endif
#ifdef SC_HAS_rel_deadline
	to->rel_deadline = se->rel_deadline;
#endif
}

static inline void sc_task_util_est(struct sched_entity *se, struct sc_task_state *to)
{
#if !SC_SINCE(6, 8)
	to->util_est = se->avg.util_est.ewma;
	to->util_est_last = se->avg.util_est.enqueued & ~UTIL_AVG_UNCHANGED;
#else
	to->util_est = se->avg.util_est & ~UTIL_AVG_UNCHANGED;
#endif
}

#endif
