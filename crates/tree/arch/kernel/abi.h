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

#define SC_ABI_VERSION	2

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
	int polls;			/* a loop that looks for work (CPUIDLE_FLAG_POLLING) */
};

struct sc_machine {
	sc_u32 cpus, nodes, levels, idle_states;
	const struct sc_cpu_place *places;
	const sc_u32 *distances;	/* nodes x nodes */
	const struct sc_level *level;	/* lowest first, without NUMA */
	const struct sc_idle_state *idle_state;
	sc_u32 reclaim_distance;	/* node_reclaim_distance; 0 for the kernel's own */
};

/* Interrupts, as bits. */
enum sc_interrupt { SC_IRQ_RESCHED = 1, SC_IRQ_CALL = 2, SC_IRQ_WORK = 4, SC_IRQ_TIMER = 8, SC_IRQ_DEVICE = 16, SC_IRQ_WAKE = 32 };

/* What a CPU waits for when its turn ends. SC_KERNEL: the next call of its task, or the return to user mode. */
enum sc_waits { SC_OFF, SC_USER, SC_IDLE, SC_SPINS, SC_KERNEL };

/* What a task asks the kernel for. The last five end a turn: the task may sleep or move. */
enum sc_call_kind {
	SC_CALL_WAKE,		/* a: pid; b: whether the caller is about to sleep (WF_SYNC) */
	SC_CALL_FORK,		/* answers the child's pid */
	SC_CALL_NICE,		/* a: nice value */
	SC_CALL_SLICE,		/* a: slice in ns, 0 for the default */
	SC_CALL_SLEEP,		/* b: whether for I/O */
	SC_CALL_SLEEP_UNTIL,	/* a: simulated time in ns */
	SC_CALL_YIELD,
	SC_CALL_EXEC,
	SC_CALL_AFFINITY,	/* mask */
	SC_CALL_EXIT,
};

struct sc_call {
	sc_u32 kind;
	sc_s64 a, b;
	const sc_u64 *mask;
	sc_s64 answer;
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
};

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
	SC_EVENT_WAKEUP_NEW,	/* a: pid */
	SC_EVENT_MIGRATE,	/* a: pid; b: its new CPU */
	SC_EVENT_UTIL,		/* the utilisation of `cpu` was updated; a: whether for a task that waited for I/O */
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

/* What the simulator does for the library. */
struct sc_host {
	void *(*alloc)(sc_u64 size, sc_u64 align);	/* zeroed; never NULL */
	void *(*pages)(sc_u64 size);			/* zeroed, and never given back */
	void (*free)(void *memory);			/* what alloc() gave */
	void (*log)(const char *text);			/* what printk prints */
	void (*fatal)(const char *text);		/* does not return */
	void (*event)(sc_u32 event, sc_u32 cpu, sc_s64 a, sc_s64 b);
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
};

#endif
