/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of this directory share. */
#ifndef SC_MACHINE_H
#define SC_MACHINE_H

#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include "abi.h"
#include "compat.h"

extern const struct sc_host *sc_host;
extern const struct sc_machine *sc_machine;
extern u64 sc_now_ns;
extern bool sc_booted;
extern struct task_struct *sc_servant;

/* A CPU while it does not execute. */
struct sc_context {
	struct task_struct *curr;
	unsigned long irqs_on, irqs_waiting;
	enum sc_waits waits;
	u64 timer_ns, clock_ns;
	/* Where it is idle. */
	u32 idle_state;
	u64 idle_until_ns;
	/* What its task asks for, and tasks that an interrupt wakes, by thread.next_woken. */
	struct sc_call *call;
	struct task_struct *woken, *last_woken;
};
extern struct sc_context sc_contexts[];

/* cpu.c */
void sc_wait(enum sc_waits why);
enum sc_waits sc_enter(sc_u32 cpu);
void sc_turn(struct sc_turn *turn);
void sc_start_cpu(int cpu, struct task_struct *idle);

/* interrupt.c */
void sc_raise(sc_u32 cpu, sc_u32 irq);
void sc_take_from_user(void);

/* switch.c: saves where the caller is, goes on at `to`, and hands `pass` over. */
void *sc_switch_stack(void **from, void *to, void *pass);
void *sc_first_frame(void *stack, size_t size);

/* task.c */
struct task_struct *sc_new_task(const struct task_struct *like, const char *name, int (*start)(void *), void *arg, bool kthread, bool idle);
void sc_attach_to_group(struct task_struct *task, int group);
struct task_struct *sc_task(pid_t pid);
pid_t sc_last_pid(void);
void sc_user(void) __noreturn;

/* system_calls.c */
void sc_system_calls(void);
void sc_wake_from_interrupt(void);
void sc_wake_later(sc_u32 cpu, sc_s64 pid);
sc_s64 sc_spawn(const struct sc_spawn *spawn);

/* events.c: what the simulator hears of the kernel's tracepoints. */
void sc_events_setup(void);

/* looks.c: CPUs looked at, and the time that it takes. */
u64 sc_looks_ns(void);
void sc_looks_begin(struct sc_turn *turn);
void sc_looks_end(struct sc_turn *turn);
extern bool sc_searching;

/* counters.c */
void sc_counters_setup(void);
void sc_count(struct sc_counts *to);
void sc_count_all(void);
void sc_count_task(struct task_struct *task);
void sc_count_kick(int cpu);

/* frequency.c */
void sc_watch_util(void);
sc_u64 sc_util(sc_u32 cpu);
void sc_set_frequency(sc_u32 cpu, sc_u64 scale);

/* boot.c: lets a function run in the kernel thread that serves the simulator. */
sc_s64 sc_ask(int (*fn)(void *), void *arg);

/* clock.c, memory.c, topology.c, rcu.c, groups.c */
void sc_timer_interrupt(void);
void sc_start_timer(int cpu);
void sc_memory_setup(void);
void sc_topology_setup(void);
void sc_masks_setup(void);
void sc_topology_shows(int cpu, bool here);
bool sc_rcu_run(void);
void sc_groups_setup(void);
struct css_set *sc_css_set(int group);

/* debugfs.c */
sc_s64 sc_debugfs_write(const char *path, const char *text);
sc_s64 sc_debugfs_read(const char *path, char *text, sc_u64 size);

void sc_copy_mask(struct cpumask *to, const sc_u64 *from);

#endif
