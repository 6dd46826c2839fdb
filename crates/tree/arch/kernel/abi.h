/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a kernel's scheduler as a library and a simulator say to each other. Plain C, no type of the kernel's or of a C library's.
 *
 * The library is a machine without hardware. Its CPUs are contexts that one thread runs in turn: turn() lets a CPU go on until it
 * waits again, in user mode, idle or spinning. Between two calls nothing happens in it. Time is what the simulator last said, and
 * what the CPU has looked at since.
 */
#ifndef SC_ABI_H
#define SC_ABI_H

#define SC_ABI_VERSION	9

typedef unsigned long long sc_u64;
typedef long long sc_s64;
typedef unsigned int sc_u32;

/* Flags of a level of domains: what all its CPUs share, and how it packs. */
enum sc_level_flag {
	SC_LEVEL_SHARES_CAPACITY = 1,	/* SD_SHARE_CPUCAPACITY */
	SC_LEVEL_SHARES_CLUSTER = 2,	/* SD_CLUSTER */
	SC_LEVEL_SHARES_LLC = 4,	/* SD_SHARE_LLC, SD_SHARE_PKG_RESOURCES */
	SC_LEVEL_ASYM_PACKING = 8,	/* SD_ASYM_PACKING */
};

/* Masks are arrays of 64-bit words, CPU 0 in the lowest bit of the first, as many words as the machine's CPUs need. */
struct sc_level {
	const char *name;
	sc_u32 flags;
	const sc_u64 *masks;		/* one by CPU */
};

struct sc_cpu_place {
	sc_u32 core, cluster, package, node;
	sc_u64 capacity;		/* arch_scale_cpu_capacity, 1024 for the largest */
	sc_u64 llc_bytes;		/* size of its last-level cache, 0 where the kernel has no cacheinfo */
	int priority;			/* arch_asym_cpu_priority */
	const sc_u64 *smt;		/* cpu_smt_mask */
	const sc_u64 *cluster_cpus;
	const sc_u64 *package_cpus;
	const sc_u64 *llc;
};

/* An idle state, the shallowest first. */
struct sc_idle_state {
	const char *name;
	sc_u64 exit_ns, residency_ns;
	sc_u64 poll_ns;			/* how long a loop looks for work before the governor chooses again; 0 where it is no loop */
	int flagged;			/* whether governors are told of the loop (CPUIDLE_FLAG_POLLING) */
};

struct sc_machine {
	sc_u32 cpus, nodes, levels, idle_states;
	const struct sc_cpu_place *places;
	const sc_u32 *distances;	/* nodes x nodes */
	const struct sc_level *level;	/* lowest first, without NUMA */
	const struct sc_idle_state *idle_state;
	sc_u32 reclaim_distance;	/* node_reclaim_distance */
};

/* Interrupts, as bits. */
enum sc_interrupt {
	SC_IRQ_RESCHED = 1, SC_IRQ_CALL = 2, SC_IRQ_WORK = 4, SC_IRQ_TIMER = 8, SC_IRQ_DEVICE = 16, SC_IRQ_WAKE = 32,
	SC_IRQ_START = 64,	/* the CPU is switched on */
};

/* What a CPU waits for when its turn ends. SC_KERNEL: the next call of its task, or the return to user mode. */
enum sc_waits { SC_OFF, SC_USER, SC_IDLE, SC_SPINS, SC_KERNEL };

/* What a task asks the kernel for. The last eight end a turn: the task may sleep or move. */
enum sc_call_kind {
	SC_CALL_WAKE,		/* a: pid; b: whether the caller is about to sleep (WF_SYNC) */
	SC_CALL_NICE,		/* a: nice value */
	SC_CALL_SLICE,		/* a: slice in ns, 0 for the default */
	SC_CALL_CLAMP,		/* a: lower and b: upper clamp of utilisation; -1 for as it is */
	SC_CALL_FORK,		/* a: the child's group, by its number, or 0 for the parent's */
	SC_CALL_SLEEP,		/* b: whether for I/O */
	SC_CALL_SLEEP_UNTIL,	/* a: simulated time in ns */
	SC_CALL_YIELD,
	SC_CALL_EXEC,
	SC_CALL_AFFINITY,	/* words: the mask */
	SC_CALL_POLICY,		/* a: enum sc_policy; b: real-time priority; words: runtime, deadline and period in ns */
	SC_CALL_EXIT,
};

/* Policies of tasks (SCHED_NORMAL and the others). */
enum sc_policy { SC_OTHER, SC_BATCH, SC_LAZY, SC_FIFO, SC_ROUND_ROBIN, SC_DEADLINE };

struct sc_call {
	sc_u32 kind;
	sc_s64 a, b;
	const sc_u64 *words;
};

/* One turn of a CPU. Costs are those of looking at another CPU, in ns << SC_COST_SHIFT. */
#define SC_COST_SHIFT	10

struct sc_turn {
	sc_u32 cpu, irqs;			/* interrupts that arrive */
	sc_u64 now_ns;
	sc_u32 scan_cost, balance_cost;
	struct sc_call *call;			/* of the task in user mode; may be NULL */
	sc_u32 waits;				/* from here on answers: enum sc_waits */
	sc_u32 scans, balances;			/* CPUs looked at in searches, and otherwise */
	sc_s64 current_task;			/* its pid; 0 for the idle task */
};

/* A CPU that is idle: its state, by its place, and when it will look whether to stay there; ~0 for never. */
struct sc_idle {
	sc_u32 state;
	sc_u64 until_ns;
	sc_u64 calls;		/* how often it went idle without a tick to come (tick_nohz_get_idle_calls_cpu()) */
};

/* What tasks of a group share: a cookie of core scheduling, a session. */
enum sc_shared { SC_COOKIE = 1, SC_SESSION = 2 };

/* A task that sleeps from the start of a run. */
struct sc_spawn {
	const char *name;
	sc_u32 cpu;
	int nice;
	const sc_u64 *mask;
};

enum sc_event {
	SC_EVENT_WARN,
	SC_EVENT_TIMER,		/* a: when the timer of `cpu` is due in ns; -1 for never */
	SC_EVENT_INTERRUPT,	/* a: the CPU that is to be interrupted by `cpu`; b: how */
	SC_EVENT_SWITCH,	/* a: pid of the task that ran; b: of the one that runs now; 0 for idle */
	SC_EVENT_WAKING,	/* a: pid; b: whether in an interrupt */
	SC_EVENT_WAKEUP,	/* a: pid; b: whether its CPU had nothing to run */
	SC_EVENT_WAKEUP_NEW,	/* a: pid; b: its CPU */
	SC_EVENT_MIGRATE,	/* a: pid; b: its new CPU */
	SC_EVENT_UTIL,		/* the utilisation of `cpu` was updated; a: whether for a task that waited for I/O, b: by which CPU */
	SC_EVENT_PUSH,		/* a: pid; b: its new CPU, as its own goes offline */
	SC_EVENT_SWITCHED,	/* what switch_later() asked for is done; a: 0, or an error as the kernel has it */
	SC_EVENT_UNDEFINED,	/* undefined behaviour; b: text that begins with the file and the line */
	SC_EVENT_CLOCK,		/* `cpu` asks for a P-state; a: its frequency in kHz; b: whether it speaks for its policy */
	SC_EVENT_REFUSED,	/* what a task asked for last is refused; a: its pid; b: an error as the kernel has it */
};

/* Clamps of a queue's utilisation (uclamp_rq_get()), 0 to 1024. */
struct sc_clamps {
	sc_u32 min, max;
};

/* P-states, and who governs: what firmware tells acpi-cpufreq. */
struct sc_clocks {
	sc_u32 states, policies;
	const sc_u32 *khz;		/* of each state, P0 first */
	const sc_u64 *policy_cpus;	/* a mask by policy */
	sc_u32 latency_ns;		/* transition latency, 0 where it is not told */
	sc_u32 boost_ratio;		/* highest clock by P0's, 1024 for 1; 0 where CPPC does not tell */
	int fast_switch;		/* whether a CPU may switch from the scheduler's code */
	int invariant;			/* arch_scale_freq_invariant() */
};

/* What a kind of CPU's balancing did, as /proc/schedstat counts it. */
struct sc_balancing {
	sc_u64 count, balanced, failed, gained, hot_gained, imbalance, nobusyg, nobusyq;
};

/* What the kernel counted since the boot. */
struct sc_counts {
	sc_u64 sched_count, sched_goidle, affine_attempts, affine_moves, alb_count, alb_failed, alb_pushed, ilb_kicks;
	struct sc_balancing balancing[3];	/* by idle, busy and newly idle CPUs */
};

/*
 * Decisions of the fair class, which a library that is built with CONFIG_SCHEDSCAPE_PROBES tells. The simulator finds the functions
 * that make them by name and says where they are.
 */
enum sc_decision {
	SC_DECIDES_CPU,		/* select_task_rq_fair(): the CPU for a task that wakes, is new or execs */
	SC_DECIDES_TASK,	/* which of the queued tasks runs next; answers its pid, or 0 */
	SC_DECIDES_PREEMPTION,	/* whether a task that was just queued preempts the running one */
	SC_BALANCES,		/* an attempt at balancing: answers the number of tasks that moved */
	SC_DECIDES_TURN,	/* in that: whether it is this CPU's turn (should_we_balance()) */
	SC_DECIDES_GROUP,	/* in that: the first CPU of the busiest group, or -1 */
	SC_DECIDES_QUEUE,	/* in that: the CPU of the busiest queue, or -1 */
	SC_DECISIONS,
};

/* Why a CPU is asked for. */
enum sc_why { SC_WAKES, SC_WAKES_SYNC, SC_IS_NEW, SC_EXECS };

/* A decision that is about to be made on `cpu`. */
struct sc_question {
	sc_u32 decision, cpu;		/* balancing: the CPU that pulls */
	sc_u64 now_ns, jiffies;		/* the clock of the queue in question */
	sc_s64 task, current_task;	/* pids; that of the task in question, or 0, and of the one that runs on this CPU */
	sc_u32 why;			/* for a CPU */
	sc_u32 previous;		/* for a CPU: where the task was */
	sc_u32 level, idle;		/* balancing: the domain from the lowest up; 0 for an idle CPU, 1 busy, 2 newly idle */
	sc_u32 group;			/* for a queue: the first CPU of the group */
};

/* PELT averages. */
struct sc_averages {
	sc_u64 load, runnable, util;
};

/* A run queue: cfs_rq of the root group and what belongs to its CPU. */
struct sc_queue_state {
	sc_s64 current_task, current_fair;	/* pids: the running task, and the running one of the fair class; 0 for none */
	sc_u32 nr_running, nr_queued, nr_delayed;	/* of all classes; fair ones; those of these that sleep but have not left */
	sc_u32 waiting, wakeup_pending, idle_state;	/* tasks in order; a task on its way; where an idle CPU is */
	sc_u64 weight;
	sc_u64 min_vruntime;			/* zero_vruntime, with what is summed up against it */
	sc_s64 weighted_vruntime, weight_waiting;
	sc_s64 next, last, skip;		/* buddies */
	struct sc_averages averages;
	sc_u64 h_load, h_load_tick;		/* load at the tick's first question for a task's */
	sc_u64 util_est;
	sc_u64 avg_idle_ns, avg_scan_cost_ns, wake_avg_idle_ns, wake_stamp, idle_since_ns;
	sc_u64 capacity;
	sc_u32 llc_busy, llc_idle_cores, llc_scan;
	sc_u64 imbalanced;			/* bits: domains whose own group says that affinities hinder it */
};

/* A task. */
struct sc_task_state {
	sc_s64 last_wakee;
	sc_u32 cpu, on_rq, delayed, custom_slice, rel_deadline, attached;
	sc_u64 weight, vruntime, deadline, slice_ns, protected;
	sc_s64 lag;
	sc_u64 exec_start_ns, sum_exec_ns, prev_sum_exec_ns;
	struct sc_averages averages;
	sc_u64 util_est, util_est_last;
	sc_u32 wakee_flips, recent_used_cpu;
	sc_u64 flip_decay;
};

/*
 * What a CPU's queue says of itself, each number beside the same as counted from what is queued. They are equal between turns;
 * averages and the rest have nothing beside them. Weights and virtual runtimes are those of the first queue of the fair class in which
 * they differ, a group's or the root's, and else those of the root.
 */
struct sc_sums {
	sc_u64 nr_running, counted_running;	/* of all classes */
	sc_u64 servers;		/* those of the deadline class that are no tasks, which nr_running counts or not, by release */
	sc_u64 nr_queued, counted_queued;	/* fair ones: by the root's queue, and in trees with the running one */
	sc_u64 listed, counted_listed;		/* the same with those whose group is throttled and that have not left its tree */
	sc_u64 weight, counted_weight;
	sc_u64 weight_waiting, counted_weight_waiting;	/* EEVDF: of those in the tree */
	sc_s64 weighted_vruntime, counted_weighted_vruntime;	/* EEVDF: their virtual runtimes against the queue's, by weight */
	struct sc_averages averages;
	sc_u64 avg_idle_ns;
	sc_u32 wakeup_pending, active;		/* a task on its way; whether tasks may come here (cpu_active()) */
	sc_u32 group;				/* the place of the group whose weights these are; 0 for the root */
	sc_u32 outranked;			/* a queued task has a higher class or real-time priority than the running one */
};

/* A task in such a queue. */
#define SC_MASK_WORDS	4

struct sc_queued {
	sc_s64 pid;
	sc_u32 running, delayed, attached;	/* attached: its averages are part of the queue's */
	sc_u64 weight, slice_ns;		/* slice_ns: 0 for a class without */
	sc_u64 sum_exec_ns;
	sc_u64 load_avg, util_avg;
	sc_u64 mask[SC_MASK_WORDS];		/* its first CPUs */
	sc_u32 group, depth;			/* the place of its group, 0 for the root; queues from the root's to its own */
	sc_u64 parts;				/* of how many parts of its CPU it has one, x 1024, by the weights of all these queues */
	sc_u64 quota_ns, period_ns;		/* the smallest quota of its group and those above, the longest period; 0 for none */
	sc_u64 throttled;			/* whether one of them waits for its quota */
};

/* What the simulator does for the library. */
struct sc_host {
	void *(*alloc)(sc_u64 size, sc_u64 align);	/* zeroed; never NULL */
	void *(*pages)(sc_u64 size);			/* zeroed, and never given back */
	void (*free)(void *memory);			/* what alloc() gave */
	void (*log)(const char *text);			/* what printk prints */
	void (*fatal)(const char *text);		/* does not return */
	void (*event)(sc_u32 event, sc_u32 cpu, sc_s64 a, sc_s64 b);
	/* A decision begins, and ends; between them others may. */
	void (*asked)(const struct sc_question *question);
	void (*answered)(sc_u32 decision, sc_s64 answer);
};

struct sc_api {
	sc_u32 version;
	const char *release;
	/* Boots with all CPUs online and returns when they wait. */
	void (*boot)(const struct sc_host *host, const struct sc_machine *machine, int verbose);
	void (*set_now)(sc_u64 ns);
	sc_u64 (*now)(void);
	sc_u64 (*tick)(void);			/* length of a tick in ns */
	void (*turn)(struct sc_turn *turn);
	/* A device's interrupt that arrives with SC_IRQ_WAKE will wake this task. */
	void (*wake_later)(sc_u32 cpu, sc_s64 pid);
	/* Makes a task, asleep; its pid. Tasks are attached to CPUs that are online. */
	sc_s64 (*spawn)(const struct sc_spawn *spawn);
	/* When the CPU's timer is due in ns; ~0 for never. */
	sc_u64 (*timer)(sc_u32 cpu);
	/* What a CPU waits for, and its task. */
	sc_u32 (*waits)(sc_u32 cpu);
	sc_s64 (*current_task)(sc_u32 cpu);
	sc_u32 (*nr_running)(sc_u32 cpu);
	void (*idle)(sc_u32 cpu, struct sc_idle *idle);
	void (*count)(struct sc_counts *counts);
	/* From now on SC_EVENT_UTIL is told. */
	void (*watch_util)(void);
	/* cpu_util_cfs(), 1024 for a CPU. */
	sc_u64 (*util)(sc_u32 cpu);
	/* arch_scale_freq_capacity(), 1024 for the highest clock. */
	void (*set_frequency)(sc_u32 cpu, sc_u64 scale);
	/* Random numbers begin anew. */
	void (*seed)(sc_u64 seed);
	/* Writes to a file of debugfs, such as sched/features; 0, or an error as the kernel has it. */
	sc_s64 (*debugfs_write)(const char *path, const char *text);
	sc_s64 (*debugfs_read)(const char *path, char *text, sc_u64 size);
	/* Takes a CPU offline or brings it online, as a write to its file in sysfs does. */
	sc_s64 (*online)(sc_u32 cpu, int online);
	/* A function at `address` decides; from the first one on, decisions are told. 0, or -1 without CONFIG_SCHEDSCAPE_PROBES. */
	sc_s64 (*watch)(sc_u32 decision, const void *address);
	/* State of a queue, the pids of those that wait in it, the leftmost first, and a task with its mask. */
	void (*queue_state)(sc_u32 cpu, struct sc_queue_state *state, sc_s64 *waiting, sc_u32 most);
	void (*task_state)(sc_s64 pid, struct sc_task_state *state, const unsigned long **mask);
	/* The same during a run: the next SC_IRQ_DEVICE begins it, SC_EVENT_SWITCHED tells its end. One at a time. */
	void (*switch_later)(sc_u32 cpu, int online);
	void (*clamps)(sc_u32 cpu, struct sc_clamps *clamps);
	/* What a queue says of itself, and up to `most` of its tasks, the running one first; answers how many. */
	sc_u32 (*sums)(sc_u32 cpu, struct sc_sums *sums, struct sc_queued *queued, sc_u32 most);
	/* The same for a sysctl, such as kernel.sched_rt_period_us; all of them with their values, a line each. */
	sc_s64 (*sysctl_write)(const char *path, const char *text);
	sc_s64 (*sysctls)(char *text, sc_u64 size);
	/* The kernel's own cpufreq governs from now on, by a driver with these P-states; 0, or an error as the kernel has it. */
	sc_s64 (*govern)(const struct sc_clocks *clocks);
	/* What a CPU asks for in kHz; 0 before govern(). */
	sc_u32 (*requested)(sc_u32 cpu);
	/* Files of sysfs below devices/system/cpu, such as cpufreq/policy0/scaling_governor. */
	sc_s64 (*sysfs_write)(const char *path, const char *text);
	sc_s64 (*sysfs_read)(const char *path, char *text, sc_u64 size);
	/* Control groups, between runs. Makes one, whose parent is there; its number, from 1 on, or an error as the kernel has it. */
	sc_s64 (*group_make)(const char *path);
	/* Writes to a file, such as web/cpu.max. */
	sc_s64 (*group_write)(const char *path, const char *text);
	/* What the cpu controller shows in cpu.stat of a group, by its number; its length. Also during a run. */
	sc_s64 (*group_stat)(sc_u32 number, char *text, sc_u64 size);
	/* Moves a task to a group, by its number and its file cgroup.procs; the task keeps the affinity that it asked for. */
	sc_s64 (*group_join)(sc_s64 pid, sc_u32 group, const char *procs);
	/* Gives a group a leader, whose cookie or session its tasks have: bits of enum sc_shared. 0, or an error as the kernel has it. */
	sc_s64 (*group_lead)(sc_u32 group, sc_u32 shared);
	/* What the kernel shows of the pressure on CPUs, of a group or, for 0, of the machine; its length. At the end of a run. */
	sc_s64 (*pressure)(sc_u32 group, char *text, sc_u64 size);
};

/* For a debugger, times of the machine: when the run began, and the first turn at or after which moment calls sc_reached(). */
struct sc_debug {
	sc_u64 run_ns, stop_ns;
};
extern struct sc_debug sc_debug __attribute__((visibility("default")));

#endif
