// SPDX-License-Identifier: GPL-2.0-only
/*
 * RCU on one thread. A reader is somewhere only where a CPU waits within a critical section, preempted or spinning, so a count of them
 * tells when a grace period is over: when nobody is in one and the CPUs wait. Callbacks run then, in the order of call_rcu().
 */
#include <linux/rcupdate.h>
#include <linux/srcu.h>
#include <linux/rcu_sync.h>
#include "machine.h"

static struct rcu_head *first, **last = &first;
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

void call_rcu(struct rcu_head *head, rcu_callback_t callback)
{
	head->func = callback;
	head->next = NULL;
	*last = head;
	last = &head->next;
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

	if (!head || readers)
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

/* Called where a task may sleep: it lets the others go on until no reader is left. */
void synchronize_rcu(void)
{
	while (readers)
		cpu_relax();
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
		cpu_relax();
}
