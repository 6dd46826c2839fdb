/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a kernel's scheduler as a library and a simulator say to each other. Plain C, no type of the kernel's or of a C library's.
 *
 * The library is a machine without hardware. Its CPUs are contexts that one thread runs in turn: enter() lets a CPU go on until it
 * waits again, in user mode, idle or spinning. Between two calls nothing happens in it. Time is what the simulator last said.
 */
#ifndef SC_ABI_H
#define SC_ABI_H

#define SC_ABI_VERSION	1

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

struct sc_machine {
	sc_u32 cpus, nodes, levels;
	const struct sc_cpu_place *places;
	const sc_u32 *distances;	/* nodes x nodes */
	const struct sc_level *level;	/* lowest first, without NUMA */
	sc_u32 reclaim_distance;	/* node_reclaim_distance; 0 for the kernel's own */
};

/* Interrupts, as bits of the vector that raise() takes. */
enum sc_interrupt { SC_IRQ_RESCHED = 1, SC_IRQ_CALL = 2, SC_IRQ_WORK = 4, SC_IRQ_TIMER = 8, SC_IRQ_DEVICE = 16 };

/* What a CPU waits for when enter() returns. */
enum sc_waits { SC_OFF, SC_USER, SC_IDLE, SC_SPINS };

enum sc_event { SC_EVENT_SWITCH, SC_EVENT_WAKEUP, SC_EVENT_MIGRATE, SC_EVENT_WARN };

/* What the simulator does for the library. */
struct sc_host {
	void *(*alloc)(sc_u64 size, sc_u64 align);	/* zeroed; never NULL */
	void (*free)(void *memory);
	void (*log)(const char *text);			/* what printk prints */
	void (*fatal)(const char *text);		/* does not return */
	void (*interrupt)(sc_u32 cpu, sc_u32 irq);	/* one CPU interrupts another; the simulator raises it when it arrives */
	void (*timer)(sc_u32 cpu, sc_u64 at_ns);	/* when the CPU's timer is due; ~0 for never */
	void (*event)(sc_u32 event, sc_u32 cpu, sc_s64 a, sc_s64 b);
};

struct sc_api {
	sc_u32 version;
	const char *release;
	/* Boots with all CPUs online and returns when they wait. */
	void (*boot)(const struct sc_host *host, const struct sc_machine *machine, int verbose);
	void (*set_now)(sc_u64 ns);
	/* An interrupt arrives at a CPU, to be taken when that is entered. */
	void (*raise)(sc_u32 cpu, sc_u32 irq);
	enum sc_waits (*enter)(sc_u32 cpu);
	sc_s64 (*current_task)(sc_u32 cpu);
	/* Writes to a file of debugfs, such as sched/features; 0, or an error as the kernel has it. */
	sc_s64 (*debugfs_write)(const char *path, const char *text);
	sc_s64 (*debugfs_read)(const char *path, char *text, sc_u64 size);
	/* Takes a CPU offline or brings it online, as a write to its file in sysfs does. */
	sc_s64 (*online)(sc_u32 cpu, int online);
};

#endif
