// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks: what fork.c, exit.c and the entry code do for the scheduler.
 *
 * A task is a copy of another with a stack, a place in the table of pids, and what sched_fork() gives it. A kernel thread runs its
 * function; a task of a workload is in user mode, from where it comes back for an interrupt or a system call (system_calls.c). Address
 * spaces, files and signals are not there.
 */
#include <linux/cgroup.h>
#include <linux/completion.h>
#include <linux/init_task.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/autogroup.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/sched/cputime.h>
#include <linux/mmu_context.h>
#include "sched.h"
#include "machine.h"

/* Of the kernel's list of processes, which nobody changes here. */
DEFINE_RWLOCK(tasklist_lock);

static struct task_struct **tasks;
static pid_t last_pid, table_size;

struct task_struct *sc_task(pid_t pid)
{
	return pid > 0 && pid <= last_pid ? tasks[pid] : NULL;
}

pid_t sc_last_pid(void)
{
	return last_pid;
}

struct task_struct *find_task_by_vpid(pid_t pid)
{
	return pid ? sc_task(pid) : current;
}

static pid_t number(struct task_struct *task)
{
	if (++last_pid >= table_size) {
		pid_t size = table_size ? 2 * table_size : 1024;
		struct task_struct **larger = sc_host->alloc(size * sizeof(*larger), 64);

		if (tasks)
			memcpy(larger, tasks, table_size * sizeof(*tasks));
		tasks = larger;
		table_size = size;
	}
	tasks[last_pid] = task;
	return last_pid;
}

/* Stacks of tasks that are gone, each with the next in its first word: a stack need not be zero. */
static void *free_stacks;

static void *new_stack(void)
{
	void *stack = free_stacks;

	if (!stack)
		return sc_host->pages(THREAD_SIZE);
	free_stacks = *(void **)stack;
	return stack;
}

static void free_stack(void *stack)
{
	*(void **)stack = free_stacks;
	free_stacks = stack;
}

/* copy_process(), as far as the scheduler looks at its result. */
struct task_struct *sc_new_task(const struct task_struct *like, const char *name, int (*start)(void *), void *arg, bool kthread, bool idle)
{
	struct task_struct *task = sc_host->alloc(sizeof(*task), 64);

	memcpy(task, like, sizeof(*task));
	memset(&task->thread_info, 0, sizeof(task->thread_info));
	task->stack = new_stack();
	task->thread.sp = sc_first_frame(task->stack, THREAD_SIZE);
	task->thread.start = start;
	task->thread.start_arg = arg;
	task->thread.next_woken = NULL;
	task->flags = PF_FORKNOEXEC | (kthread ? PF_KTHREAD : 0);
	refcount_set(&task->usage, 2);
	refcount_set(&task->rcu_users, 2);
	task->pid = task->tgid = idle ? 0 : number(task);
	task->group_leader = task;
	task->real_parent = task->parent = current;
	task->mm = kthread ? NULL : &init_mm;
	task->active_mm = &init_mm;
	sc_forget_asked_cpus(task);
	task->cpus_ptr = &task->cpus_mask;
	cgroup_fork(task);
	task->pi_blocked_on = NULL;
	task->on_cpu = task->on_rq = 0;
	task->nvcsw = task->nivcsw = 0;
#ifdef CONFIG_PSI
	task->psi_flags = 0;
#endif
	task->vfork_done = NULL;
	task->utime = task->stime = 0;
	task->se.cfs_rq = NULL;
	strscpy(task->comm, name, sizeof(task->comm));
	raw_spin_lock_init(&task->pi_lock);
	spin_lock_init(&task->alloc_lock);
	task->pi_waiters = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&task->tasks);
	INIT_LIST_HEAD(&task->children);
	INIT_LIST_HEAD(&task->sibling);
	INIT_LIST_HEAD(&task->thread_node);
	sc_init_threads(task);
	sc_process_begins(task);
#if SC_KTHREAD_DATA
	task->worker_private = NULL;
	if (kthread && !set_kthread_struct(task))
		panic("no memory for a kernel thread");
#else
	task->set_child_tid = NULL;
#endif
	if (sched_fork(0, task))
		panic("sched_fork() of %s failed", name);
	return task;
}

/* The new task joins the group with this number, or that of `current` where it is 0; an error as the kernel has it. */
int sc_joins(struct task_struct *task, unsigned int group)
{
	struct kernel_clone_args args = { .flags = group ? CLONE_INTO_CGROUP : 0, .cgroup = group };
	int error = cgroup_can_fork(task, &args);

	if (error)
		return error;
	if (sc_joins_group(task, &args))
		panic("sched_cgroup_fork() failed");
	sc_after_fork(task, &args);
	cgroup_post_fork(task, &args);
	return 0;
}

pid_t kernel_thread(int (*fn)(void *), void *arg, SC_THREAD_NAME(name) unsigned long flags)
{
	struct task_struct *task = sc_new_task(&init_task, current->comm, fn, arg, true, false);

	sc_inherits(task, 0);
	sc_joins(task, 0);
	wake_up_new_task(task);
	return task->pid;
}

struct task_struct *fork_idle(int cpu)
{
	char name[TASK_COMM_LEN];
	struct task_struct *task;

	snprintf(name, sizeof(name), "swapper/%d", cpu);
	task = sc_new_task(&init_task, name, NULL, NULL, true, true);
	sc_inherits(task, 0);
	init_idle(task, cpu);
	return task;
}

/* exit_to_user_mode_loop() */
static void before_user_mode(void)
{
	local_irq_disable();
	while (READ_ONCE(current_thread_info()->flags) & (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY | _TIF_NOTIFY_RESUME)) {
		bool again = READ_ONCE(current_thread_info()->flags) & (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY);

		local_irq_enable();
		if (again)
			schedule();
		if (test_and_clear_thread_flag(TIF_NOTIFY_RESUME) && task_work_pending(current))
			task_work_run();
		local_irq_disable();
	}
	local_irq_enable();
}

void __noreturn sc_user(void)
{
	for (;;) {
		before_user_mode();
		sc_wait(SC_USER);
		if (sc_contexts[sc_cpu].call)
			sc_system_calls();
		if (sc_irqs_waiting)
			sc_take_from_user();
	}
}

/* ret_from_fork(): the first thing that a task does, on its own stack, after the switch from `prev`. */
void sc_task_begins(struct task_struct *prev)
{
	struct thread_struct *thread = &current->thread;

	if (!current->pid) {
		thread->start(NULL);
		panic("an idle task has ended");
	}
	schedule_tail(prev);
	if (thread->start)
		do_exit(thread->start(thread->start_arg));
	sc_user();
}

void __noreturn do_exit(long code)
{
	sched_mm_cid_exit_signals(current);
	current->flags |= PF_NOFREEZE | PF_EXITING;
	/* mm_release(): kthread_stop() waits for it. */
	if (current->vfork_done)
		complete(current->vfork_done);
	sched_autogroup_exit_task(current);
	cgroup_exit(current);
	cgroup_release(current);
	/* A dead task that is preempted would be freed, and then go on. */
	preempt_disable();
	do_task_dead();
}

static void release(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		free_kthread_struct(task);
	sc_count_task(task);
	cgroup_free(task);
	sched_core_free(task);
	sc_process_ends(task);
	if (task->pid)
		tasks[task->pid] = NULL;
	free_stack(task->stack);
	sc_host->free(task);
}

void __put_task_struct(struct task_struct *task)
{
	release(task);
}

/* The last switch away from a dead task is over: its references by the table of pids and by its CPU go. */
void put_task_struct_rcu_user(struct task_struct *task)
{
	if (refcount_dec_and_test(&task->rcu_users) || refcount_read(&task->rcu_users) == 1)
		put_task_struct_many(task, 2);
}

void put_task_stack(struct task_struct *task)
{
}

/* The same where preemption is off. */
void __put_task_struct_rcu_cb(struct rcu_head *head)
{
	__put_task_struct(container_of(head, struct task_struct, rcu));
}
