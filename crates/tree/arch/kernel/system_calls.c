// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tasks of a workload ask the kernel for.
 *
 * The simulator makes a task's calls one after the other, and its next step sees what all of them did. So preemption is off from a
 * task's first call to its return to user mode, and what the calls made urgent happens there. Calls that may sleep or move the task
 * come last.
 */
#include <linux/hrtimer.h>
#include <linux/mmu_context.h>
#include <linux/sched/cputime.h>
#include <linux/sched/rt.h>
#include <linux/sched/task.h>
#include <linux/sched/wake_q.h>
#include <linux/wait.h>
#include <uapi/linux/sched/types.h>
#include "sched.h"
#include "machine.h"

static struct task_struct *known(sc_s64 pid)
{
	struct task_struct *task = sc_task(pid);

	if (!task)
		panic("the simulator names task %lld, which does not exist", pid);
	return task;
}

static void wake(struct task_struct *task, bool sync)
{
	wait_queue_entry_t entry = { .private = task };

	default_wake_function(&entry, TASK_NORMAL, sync ? WF_SYNC : 0, NULL);
}

static sc_s64 fork_child(void)
{
	struct task_struct *child = sc_new_task(current, current->comm, NULL, NULL, false, false);

	sc_attach_to_group(child, 0);
	wake_up_new_task(child);
	return child->pid;
}

static sc_s64 set_slice(u64 slice_ns)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_NORMAL,
		.sched_nice = task_nice(current),
		.sched_runtime = slice_ns,
	};

	return sched_setattr_nocheck(current, &attr);
}

/* Calls after which the task goes on. */
static void serve(struct sc_call *call)
{
	switch (call->kind) {
	case SC_CALL_WAKE:
		wake(known(call->a), call->b);
		break;
	case SC_CALL_FORK:
		call->answer = fork_child();
		break;
	case SC_CALL_NICE:
		set_user_nice(current, call->a);
		break;
	case SC_CALL_SLICE:
		call->answer = set_slice(call->a);
		break;
	default:
		panic("call %u", call->kind);
	}
}

static void sleep_until(u64 at_ns)
{
	ktime_t at = ktime_add_ns(ktime_get(), at_ns > sc_now_ns ? at_ns - sc_now_ns : 0);

	set_current_state(TASK_INTERRUPTIBLE);
	schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
}

static void set_affinity(const sc_u64 *mask)
{
	static struct cpumask cpus;

	sc_copy_mask(&cpus, mask);
	set_cpus_allowed_ptr(current, &cpus);
}

/* Calls that end a turn. What they were given may be gone when they return. */
static void serve_last(struct sc_call call)
{
	switch (call.kind) {
	case SC_CALL_SLEEP:
		set_current_state(TASK_INTERRUPTIBLE);
		if (call.b)
			io_schedule();
		else
			schedule();
		break;
	case SC_CALL_SLEEP_UNTIL:
		sleep_until(call.a);
		break;
	case SC_CALL_YIELD:
		yield();
		break;
	case SC_CALL_EXEC:
		sched_exec();
		break;
	case SC_CALL_AFFINITY:
		set_affinity(call.mask);
		break;
	case SC_CALL_EXIT:
		do_exit(0);
	default:
		panic("call %u", call.kind);
	}
}

void sc_system_calls(void)
{
	preempt_disable();
	for (;;) {
		struct sc_call *call = sc_contexts[sc_cpu].call;

		if (!call)
			break;
		sc_contexts[sc_cpu].call = NULL;
		if (call->kind >= SC_CALL_SLEEP) {
			preempt_enable_no_resched();
			serve_last(*call);
			return;
		}
		serve(call);
		sc_wait(SC_KERNEL);
	}
	preempt_enable_no_resched();
}

void sc_wake_later(sc_u32 cpu, sc_s64 pid)
{
	struct sc_context *c = &sc_contexts[cpu];
	struct task_struct *task = known(pid);

	task->thread.next_woken = NULL;
	if (c->woken)
		c->last_woken->thread.next_woken = task;
	else
		c->woken = task;
	c->last_woken = task;
}

/* A device is done, or a message has come from another machine. */
void sc_wake_from_interrupt(void)
{
	struct sc_context *c = &sc_contexts[sc_cpu];

	while (c->woken) {
		struct task_struct *task = c->woken;

		c->woken = task->thread.next_woken;
		wake(task, false);
	}
}

static pid_t spawned;

/* sched_fork() and what follows, but the task is taken for one that has run before and sleeps. */
static int spawn(void *arg)
{
	const struct sc_spawn *from = arg;
	struct task_struct *task = sc_new_task(&init_task, from->name, NULL, NULL, false, false);

	sc_attach_to_group(task, 0);
	sc_copy_mask(&task->cpus_mask, from->mask);
	task->nr_cpus_allowed = cpumask_weight(&task->cpus_mask);
	set_user_nice(task, from->nice);
	__set_task_cpu(task, from->cpu);
	WRITE_ONCE(task->__state, TASK_INTERRUPTIBLE);
	spawned = task->pid;
	return 0;
}

sc_s64 sc_spawn(const struct sc_spawn *from)
{
	sc_ask(spawn, (void *)from);
	return spawned;
}
