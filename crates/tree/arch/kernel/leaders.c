// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that share a cookie of core scheduling or a session.
 *
 * Both come from the task that forks. A group that has them has a leader: a task that sleeps for ever, got its cookie by prctl() and
 * its session by setsid(), and passes them on to the group's tasks as if it had forked them.
 */
#include <linux/cgroup.h>
#include <linux/pid.h>
#include <linux/sched/autogroup.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <uapi/linux/prctl.h>
#include "machine.h"

static struct task_struct **leaders;
static unsigned int nr_leaders;

static struct task_struct *leader_of(unsigned int group)
{
	return group && group <= nr_leaders ? leaders[group - 1] : NULL;
}

/*
 * copy_process(): the cookie is that of `current`, and so is the session. What tasks of a process share is one for all here, but not
 * where it has the session.
 */
void sc_inherits(struct task_struct *task, unsigned int group)
{
	struct task_struct *self = current, *leader = leader_of(group);

	if (leader) {
		sc_current = leader;
		preempt_disable();
	}
	sched_core_fork(task);
	if (IS_ENABLED(CONFIG_SCHED_AUTOGROUP))
		sched_autogroup_fork(task->signal);
	if (leader) {
		preempt_enable_no_resched();
		sc_current = self;
	}
}

#ifdef CONFIG_SCHED_AUTOGROUP
void sc_process_begins(struct task_struct *task)
{
	struct signal_struct *signal = sc_host->alloc(sizeof(*signal), 64);

	memcpy(signal, task->signal, sizeof(*signal));
	INIT_LIST_HEAD(&signal->thread_head);
	list_add_tail(&task->thread_node, &signal->thread_head);
	task->signal = signal;
}

void sc_process_ends(struct task_struct *task)
{
	sched_autogroup_exit(task->signal);
	sc_host->free(task->signal);
}

/* Nobody gets signals, so nobody's handlers go away. */
struct sighand_struct *sc_lock_task_sighand(struct task_struct *task, unsigned long *flags)
{
	spin_lock_irqsave(&task->sighand->siglock, *flags);
	return task->sighand;
}

extern unsigned int sysctl_sched_autogroup_enabled;
#endif

struct leads {
	sc_u32 group, what;
};

static void remember(struct task_struct *leader, unsigned int group)
{
	struct task_struct **more;

	if (group > nr_leaders) {
		more = sc_host->alloc(group * sizeof(*more), 64);
		if (nr_leaders)
			memcpy(more, leaders, nr_leaders * sizeof(*more));
		leaders = more;
		nr_leaders = group;
	}
	leaders[group - 1] = leader;
}

static int make_leader(void *arg)
{
	const struct leads *leads = arg;
	struct task_struct *leader;
	int error = 0;

	if ((leads->what & SC_COOKIE) && !IS_ENABLED(CONFIG_SCHED_CORE))
		return -EOPNOTSUPP;
	if ((leads->what & SC_SESSION) && !IS_ENABLED(CONFIG_SCHED_AUTOGROUP))
		return -EOPNOTSUPP;
	leader = sc_new_task(&init_task, "leader", NULL, NULL, false, false);
	sc_inherits(leader, 0);
	error = sc_joins(leader, 0);
	if (error)
		return error;
	WRITE_ONCE(leader->__state, TASK_INTERRUPTIBLE);
#ifdef CONFIG_SCHED_CORE
	if (leads->what & SC_COOKIE)
		error = sched_core_share_pid(PR_SCHED_CORE_CREATE, leader->pid, PIDTYPE_PID, 0);
#endif
#ifdef CONFIG_SCHED_AUTOGROUP
	/* kernel.sched_autogroup_enabled, which some distributions leave off. */
	if (leads->what & SC_SESSION) {
		sysctl_sched_autogroup_enabled = 1;
		sched_autogroup_create_attach(leader);
	}
#endif
	if (!error)
		remember(leader, leads->group);
	return error;
}

sc_s64 sc_group_lead(sc_u32 group, sc_u32 what)
{
	struct leads leads = { group, what };

	return sc_ask(make_leader, &leads);
}
