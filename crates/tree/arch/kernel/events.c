// SPDX-License-Identifier: GPL-2.0-only
/* What the simulator hears: probes on the kernel's own tracepoints, the same that perf and ftrace use. */
#include <linux/preempt.h>
#include <trace/events/sched.h>
#include "scheduler.h"
#include "machine.h"

static void tell(enum sc_event event, struct task_struct *task, sc_s64 b)
{
	sc_host->event(event, sc_cpu, task->pid, b);
}

static void on_switch(void *unused, bool preempt, struct task_struct *prev, struct task_struct *next SC_PREVIOUS_STATE)
{
	tell(SC_EVENT_SWITCH, prev, next->pid);
}

/* The search for a CPU follows. */
static void on_waking(void *unused, struct task_struct *task)
{
	sc_looks_ns();
	sc_searching = true;
	tell(SC_EVENT_WAKING, task, !!in_interrupt());
}

static void on_wakeup(void *unused, struct task_struct *task)
{
	tell(SC_EVENT_WAKEUP, task, task_rq(task)->nr_running == 1);
}

static void on_wakeup_new(void *unused, struct task_struct *task)
{
	tell(SC_EVENT_WAKEUP_NEW, task, task_cpu(task));
}

static void on_migrate(void *unused, struct task_struct *task, int cpu)
{
	tell(cpu_active(task_cpu(task)) ? SC_EVENT_MIGRATE : SC_EVENT_PUSH, task, cpu);
}

void sc_events_setup(void)
{
	int failed = register_trace_sched_switch(on_switch, NULL);

	failed |= register_trace_sched_waking(on_waking, NULL);
	failed |= register_trace_sched_wakeup(on_wakeup, NULL);
	failed |= register_trace_sched_wakeup_new(on_wakeup_new, NULL);
	failed |= register_trace_sched_migrate_task(on_migrate, NULL);
	if (failed)
		panic("a tracepoint refused its probe: %d", failed);
}
