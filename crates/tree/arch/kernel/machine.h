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
	u64 timer_ns;
};
extern struct sc_context sc_contexts[];

/* cpu.c */
void sc_wait(enum sc_waits why);
enum sc_waits sc_enter(sc_u32 cpu);
void sc_start_cpu(int cpu, struct task_struct *idle);

/* interrupt.c */
void sc_raise(sc_u32 cpu, sc_u32 irq);
void sc_take_from_user(void);

/* switch.c: saves where the caller is, goes on at `to`, and hands `pass` over. */
void *sc_switch_stack(void **from, void *to, void *pass);
void *sc_first_frame(void *stack, size_t size);

/* task.c */
struct task_struct *sc_new_task(const char *name, int (*start)(void *), void *arg, bool kthread, bool idle, int node);
struct task_struct *sc_task(pid_t pid);
void sc_user(void) __noreturn;

/* clock.c, memory.c, topology.c, rcu.c, groups.c */
void sc_timer_interrupt(void);
void sc_start_timer(int cpu);
void sc_percpu_setup(void);
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
