// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tasks of a workload ask the kernel for.
 *
 * The simulator makes a task's calls one after the other, and its next step sees what all of them did. So preemption is off from a
 * task's first call to its return to user mode, and what the calls made urgent happens there. Calls that may sleep or move the task
 * come last.
 */
#include <linux/hrtimer.h>
#include <linux/sched/rt.h>
#include <linux/sched/task.h>
#include <linux/sched/wake_q.h>
#include <linux/wait.h>
#include <uapi/linux/sched/types.h>
#include "scheduler.h"
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

/* It may wait for control groups. */
static void fork_child(unsigned int group)
{
	struct task_struct *child = sc_new_task(current, current->comm, NULL, NULL, false, false);
	int error;

	sc_inherits(child, group);
	error = sc_joins(child, group);
	if (error)
		panic("clone3() into group %u: %d", group, error);
	wake_up_new_task(child);
}

/* Only the fair class has slices, of which SCHED_IDLE takes none. */
static void set_slice(u64 slice_ns)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = current->policy == SCHED_BATCH ? SCHED_BATCH : SCHED_NORMAL,
		.sched_nice = task_nice(current),
		.sched_runtime = slice_ns,
	};

	sched_setattr_nocheck(current, &attr);
}

/* The policy and its parameters stay: -1 is what the system call makes of SCHED_FLAG_KEEP_POLICY. */
static void set_clamps(s64 min, s64 max)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = -1,
		.sched_flags = SCHED_FLAG_KEEP_ALL,
	};

	if (min >= 0) {
		attr.sched_flags |= SCHED_FLAG_UTIL_CLAMP_MIN;
		attr.sched_util_min = min;
	}
	if (max >= 0) {
		attr.sched_flags |= SCHED_FLAG_UTIL_CLAMP_MAX;
		attr.sched_util_max = max;
	}
	sched_setattr_nocheck(current, &attr);
}

/* Calls after which the task goes on. */
static void serve(struct sc_call *call)
{
	switch (call->kind) {
	case SC_CALL_WAKE:
		wake(known(call->a), call->b);
		break;
	case SC_CALL_NICE:
		set_user_nice(current, call->a);
		break;
	case SC_CALL_SLICE:
		set_slice(call->a);
		break;
	case SC_CALL_CLAMP:
		set_clamps(call->a, call->b);
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

static void refused(int error)
{
	sc_host->event(SC_EVENT_REFUSED, sc_cpu, current->pid, error);
}

/* The mask is this task's own: another one may ask for CPUs while it waits. */
static void set_affinity(const sc_u64 *mask)
{
	struct cpumask cpus;
	int error = 0;

	sc_copy_mask(&cpus, mask);
	/*
	 * With groups, the mask is kept for when the task's cpuset changes. The task may be preempted on the way, and moved by its old
	 * mask, after the simulator has taken over the new one.
	 */
	if (sc_has_groups() || current->policy == SCHED_DEADLINE)
		error = sched_setaffinity(0, &cpus);
	else
		set_cpus_allowed_ptr(current, &cpus);
	/* A deadline is granted on all CPUs of a root domain. */
	if (error && current->policy == SCHED_DEADLINE)
		refused(error);
}

/* sched_setattr(). It may wait for cpusets. */
static void set_policy(enum sc_policy policy, u32 priority, const sc_u64 *deadline)
{
	static const u32 policies[] = {
		[SC_OTHER] = SCHED_NORMAL, [SC_BATCH] = SCHED_BATCH, [SC_LAZY] = SCHED_IDLE,
		[SC_FIFO] = SCHED_FIFO, [SC_ROUND_ROBIN] = SCHED_RR, [SC_DEADLINE] = SCHED_DEADLINE,
	};
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = policies[policy],
		.sched_nice = task_nice(current),
		.sched_priority = priority,
	};
	int error;

	if (policy == SC_DEADLINE) {
		attr.sched_runtime = deadline[0];
		attr.sched_deadline = deadline[1];
		attr.sched_period = deadline[2];
	}
	error = sched_setattr_nocheck(current, &attr);
	if (error)
		refused(error);
}

/* Calls that end a turn. What they were given may be gone when they return. */
static void serve_last(struct sc_call call)
{
	switch (call.kind) {
	case SC_CALL_FORK:
		fork_child(call.a);
		break;
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
		set_affinity(call.words);
		break;
	case SC_CALL_POLICY:
		set_policy(call.a, call.b, call.words);
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
		if (call->kind >= SC_CALL_FORK) {
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

	sc_inherits(task, 0);
	sc_joins(task, 0);
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
