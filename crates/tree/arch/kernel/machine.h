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

/* interrupt.c */
void sc_raise(sc_u32 cpu, sc_u32 irq);
void sc_send(int cpu, sc_u32 irq);
void sc_take_from_user(void);

/* switch.c: saves where the caller is, goes on at `to`, and hands `pass` over. */
void *sc_switch_stack(void **from, void *to, void *pass);
void *sc_first_frame(void *stack, size_t size);

/* task.c */
struct task_struct *sc_new_task(const struct task_struct *like, const char *name, int (*start)(void *), void *arg, bool kthread, bool idle);
int sc_joins(struct task_struct *task, unsigned int group);
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

/* probes.c, state.c, sums.c */
sc_s64 sc_watch(sc_u32 decision, const void *address);
void sc_queue_state(sc_u32 cpu, struct sc_queue_state *to, sc_s64 *waiting, sc_u32 most);
void sc_task_state(sc_s64 pid, struct sc_task_state *to, const unsigned long **mask);
sc_u32 sc_sums(sc_u32 cpu, struct sc_sums *to, struct sc_queued *queued, sc_u32 most);

/* frequency.c */
void sc_watch_util(void);
sc_u64 sc_util(sc_u32 cpu);
void sc_set_frequency(sc_u32 cpu, sc_u64 scale);
void sc_clamps_of(sc_u32 cpu, struct sc_clamps *clamps);

/* cpufreq.c */
sc_s64 sc_clocks_govern(const struct sc_clocks *clocks);
sc_u32 sc_requested(sc_u32 cpu);

/* sysfs.c */
sc_s64 sc_sysfs_write(const char *path, const char *text);
sc_s64 sc_sysfs_read(const char *path, char *text, sc_u64 size);

/* boot.c: lets a function run in the kernel thread that serves the simulator. */
sc_s64 sc_ask(int (*fn)(void *), void *arg);
void sc_ask_later(int (*fn)(void *), void *arg);

/* hotplug.c */
sc_s64 sc_online(sc_u32 cpu, int online);
void sc_switch_later(sc_u32 cpu, int online);

/* clock.c, memory.c, topology.c, rcu.c, groups.c */
void sc_timer_interrupt(void);
void sc_start_timer(int cpu);
void sc_memory_setup(void);
void sc_topology_setup(void);
void sc_masks_setup(void);
void sc_topology_shows(int cpu, bool here);
bool sc_rcu_run(void);
bool sc_rcu_waits(void);
void sc_groups_early(void);
void sc_groups_setup(void);
sc_s64 sc_group_make(const char *path);
sc_s64 sc_group_write(const char *path, const char *text);
sc_s64 sc_group_stat(sc_u32 number, char *text, sc_u64 size);
bool sc_has_groups(void);
struct cgroup *sc_group(sc_u32 number);
sc_s64 sc_group_join(sc_s64 pid, sc_u32 group, const char *procs);

/* sanitize.c */
void sc_sanitizers_setup(void);
void sc_fresh_stack(void *stack, size_t size);

/* leaders.c */
void sc_inherits(struct task_struct *task, unsigned int group);
sc_s64 sc_group_lead(sc_u32 group, sc_u32 what);
#ifdef CONFIG_SCHED_AUTOGROUP
void sc_process_begins(struct task_struct *task);
void sc_process_ends(struct task_struct *task);
#else
static inline void sc_process_begins(struct task_struct *task) { }
static inline void sc_process_ends(struct task_struct *task) { }
#endif

/* pressure.c */
sc_s64 sc_pressure(sc_u32 group, char *text, sc_u64 size);

/* debug.c */
void sc_reached(struct sc_turn *turn);

/* debugfs.c */
sc_s64 sc_debugfs_write(const char *path, const char *text);
sc_s64 sc_debugfs_read(const char *path, char *text, sc_u64 size);

/* sysctl.c */
void sc_sysctl_setup(void);
sc_s64 sc_sysctl_write(const char *path, const char *text);
sc_s64 sc_sysctls(char *text, sc_u64 size);

void sc_copy_mask(struct cpumask *to, const sc_u64 *from);

#endif
