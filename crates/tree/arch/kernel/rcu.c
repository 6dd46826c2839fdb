// SPDX-License-Identifier: GPL-2.0-only
/*
 * RCU on one thread. A reader is somewhere only where a CPU waits within a critical section, preempted or spinning, so a count of them
 * tells when a grace period is over: when nobody is in one and the CPUs wait. Readers that cannot be preempted are not counted; CPUs
 * that wait are looked through for them. Callbacks run then, in the order of call_rcu(). While nobody simulates, boot.c looks for that
 * after each round of turns; during a run a timer does, with the next tick, and who waits for readers sleeps.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/srcu.h>
#include <linux/timer.h>
#include <linux/rcu_sync.h>
#include "machine.h"

static struct rcu_head *first, **last = &first;

#ifdef CONFIG_PREEMPT_RCU
static unsigned int readers;

void __rcu_read_lock(void)
{
	current->rcu_read_lock_nesting++;
	readers++;
}

void __rcu_read_unlock(void)
{
	current->rcu_read_lock_nesting--;
	readers--;
}

static bool is_read(void)
{
	return readers;
}
#else
/* A reader is whoever waits with preemption off, or was interrupted so. */
static bool is_read(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		const struct sc_context *there = &sc_contexts[cpu];
		bool in_kernel = there->waits == SC_SPINS || there->waits == SC_KERNEL;

		if (in_kernel && task_thread_info(there->curr)->preempt_count & PREEMPT_MASK)
			return true;
	}
	return false;
}
#endif

static void look(struct timer_list *unused);
static DEFINE_TIMER(next_look, look);

static void look(struct timer_list *unused)
{
	if (first && !sc_rcu_run())
		mod_timer(&next_look, jiffies + 1);
}

void call_rcu(struct rcu_head *head, rcu_callback_t callback)
{
	head->func = callback;
	head->next = NULL;
	*last = head;
	last = &head->next;
	if (sc_booted && !timer_pending(&next_look))
		mod_timer(&next_look, jiffies + 1);
}

/* kfree_rcu(): what is to be freed is noted beside it, as the head in it may be too small for a callback. */
struct pending {
	struct rcu_head head;
	void *memory;
};

static void free_pending(struct rcu_head *head)
{
	struct pending *pending = container_of(head, struct pending, head);

	sc_host->free(pending->memory);
	sc_host->free(pending);
}

static void free_later(void *memory)
{
	struct pending *pending = sc_host->alloc(sizeof(*pending), 64);

	pending->memory = memory;
	call_rcu(&pending->head, free_pending);
}

#if SC_FREES_MEMORY
void kvfree_call_rcu(struct sc_free_head *head, void *memory)
{
	free_later(memory);
}
#else
void kvfree_call_rcu(struct rcu_head *head, rcu_callback_t offset)
{
	free_later(head ? (char *)head - (unsigned long)offset : (char *)offset);
}
#endif

/* Whether callbacks ran. */
bool sc_rcu_run(void)
{
	struct rcu_head *head = first;

	if (!head || is_read())
		return false;
	first = NULL;
	last = &first;
	while (head) {
		struct rcu_head *next = head->next;

		head->func(head);
		head = next;
	}
	return true;
}

bool sc_rcu_waits(void)
{
	return first;
}

/* Lets the others go on. Time goes on while a task spins only where nobody simulates. */
static void wait_a_little(void)
{
	if (sc_booted)
		schedule_timeout_uninterruptible(1);
	else
		cpu_relax();
}

/* Called where a task may sleep: it waits until no reader is left. */
void synchronize_rcu(void)
{
	while (is_read())
		wait_a_little();
}

void call_srcu(struct srcu_struct *srcu, struct rcu_head *head, rcu_callback_t callback)
{
	call_rcu(head, callback);
}

void synchronize_srcu(struct srcu_struct *srcu)
{
	synchronize_rcu();
}

/* Waits until the callbacks that are queued have run. */
void rcu_barrier(void)
{
	while (first)
		wait_a_little();
}
