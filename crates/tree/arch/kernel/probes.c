// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decisions of the fair class, told as they are made.
 *
 * With CONFIG_SCHEDSCAPE_PROBES each function of the tree calls __fentry__ first, as ftrace has it. Here that looks whether the function
 * is one of those to watch. Its question is told when it begins; its return goes by way of sc_probe_return, which tells the answer.
 */
#include <linux/preempt.h>
#include "scheduler.h"
#include "machine.h"

#ifdef CONFIG_SCHEDSCAPE_PROBES

/* Functions that a CPU can be in at once, one called by the other. */
#define DEPTH	8

/* Arguments as the calling convention passes them, in the order in which __fentry__ saves them. */
struct arguments {
	unsigned long r9, r8, fourth, third, second, first;
};

struct call {
	enum sc_decision decision;
	unsigned long back;
	unsigned long first, third, fourth;
	/* Of an attempt at balancing: its source was looked for; another look leaves out CPUs that the question does not tell. */
	bool looked;
};

static struct {
	int depth;
	struct call calls[DEPTH];
} stacks[NR_CPUS];

/* The bytes of a call of __fentry__ through the table of addresses. */
#define ENTRY_BYTES	6

static unsigned long addresses[SC_DECISIONS];
bool sc_probing;

void sc_probe_return(void);

static noinline int decision_at(unsigned long address)
{
	int i;

	for (i = 0; i < SC_DECISIONS; i++)
		if (addresses[i] == address)
			return i;
	return -1;
}

static int first_cpu(struct sched_group *group)
{
	return group ? cpumask_first(sched_group_span(group)) : -1;
}

/* The attempt at balancing that a call is part of. */
static struct call *attempt(void)
{
	int i;

	for (i = stacks[sc_cpu].depth - 1; i >= 0; i--)
		if (stacks[sc_cpu].calls[i].decision == SC_BALANCES)
			return &stacks[sc_cpu].calls[i];
	return NULL;
}

static void of_balancing(struct sc_question *q, const struct call *call)
{
	struct sched_domain *sd = (void *)call->third, *below;

	for (below = sd->child; below; below = below->child)
		q->level++;
	q->cpu = call->first;
	q->idle = call->fourth == CPU_IDLE ? 0 : call->fourth == SC_CPU_NOT_IDLE ? 1 : 2;
}

static bool question(struct sc_question *q, int decision, const struct arguments *with)
{
	struct task_struct *task = NULL;
	struct call *balancing = attempt();
	struct rq *rq = this_rq();

	switch (decision) {
	case SC_DECIDES_CPU:
		task = (void *)with->first;
		q->previous = with->second;
		q->why = sc_why(with->third, with->fourth);
		break;
	case SC_DECIDES_TASK:
		rq = container_of((struct cfs_rq *)with->first, struct rq, cfs);
		break;
	case SC_DECIDES_PREEMPTION:
		rq = (void *)with->first;
		task = (void *)with->second;
		break;
	default:
		if (!balancing || balancing->looked)
			return false;
	}
	q->decision = decision;
	q->cpu = cpu_of(rq);
	q->now_ns = rq->clock_task;
	q->jiffies = jiffies;
	q->task = task ? task->pid : 0;
	q->current_task = current->pid;
	if (decision > SC_BALANCES)
		of_balancing(q, balancing);
	if (decision == SC_DECIDES_QUEUE) {
		balancing->looked = true;
		q->group = first_cpu((void *)with->second);
	}
	return true;
}

/* At once, or before it goes on in user mode. */
static bool has_to_switch(struct task_struct *task)
{
	return test_tsk_need_resched(task) || test_tsk_thread_flag(task, TIF_NEED_RESCHED_LAZY);
}

static sc_s64 answer(const struct call *call, unsigned long value)
{
	struct sched_entity *entity = (void *)value;
	struct rq *rq = (void *)value;

	switch (call->decision) {
	case SC_DECIDES_CPU:
	case SC_BALANCES:
	case SC_DECIDES_TURN:
		return (int)value;
	case SC_DECIDES_TASK:
		return entity ? container_of(entity, struct task_struct, se)->pid : 0;
	case SC_DECIDES_PREEMPTION:
		return has_to_switch(((struct rq *)call->first)->curr);
	case SC_DECIDES_GROUP:
		return first_cpu((void *)value);
	default:
		return rq ? cpu_of(rq) : -1;
	}
}

/* Whether the answer of a decision that begins now would tell something. */
static bool is_open(int decision, const struct arguments *with)
{
	struct rq *rq = (void *)with->first;

	/* What is picked next on a CPU that is to choose again is not asked. */
	return decision != SC_DECIDES_PREEMPTION || !has_to_switch(rq->curr);
}

/* at[0] is the address behind the call of __fentry__, at[1] that to which the function returns. */
void sc_probe_enter(unsigned long *at, const struct arguments *with)
{
	int decision = decision_at(at[0] - ENTRY_BYTES);
	struct sc_question q = { };
	struct call *call;

	if (decision < 0 || stacks[sc_cpu].depth == DEPTH || !is_open(decision, with))
		return;
	sc_probing = false;
	if (decision == SC_BALANCES || question(&q, decision, with)) {
		call = &stacks[sc_cpu].calls[stacks[sc_cpu].depth++];
		*call = (struct call){ decision, at[1], with->first, with->third, with->fourth };
		at[1] = (unsigned long)sc_probe_return;
		if (decision != SC_BALANCES)
			sc_host->asked(&q);
	}
	sc_probing = true;
}

unsigned long sc_probe_leave(unsigned long value)
{
	struct call *call = &stacks[sc_cpu].calls[--stacks[sc_cpu].depth];

	sc_probing = false;
	if (call->decision != SC_BALANCES)
		sc_host->answered(call->decision, answer(call, value));
	sc_probing = true;
	return call->back;
}

asm(
"	.pushsection .text\n"
"	.globl __fentry__\n"
"__fentry__:\n"
"	cmpb	$0, sc_probing(%rip)\n"
"	jne	1f\n"
"	ret\n"
"1:	push	%rax\n"
"	push	%r10\n"
"	push	%r11\n"
"	push	%rdi\n"
"	push	%rsi\n"
"	push	%rdx\n"
"	push	%rcx\n"
"	push	%r8\n"
"	push	%r9\n"
"	lea	72(%rsp), %rdi\n"
"	mov	%rsp, %rsi\n"
"	sub	$8, %rsp\n"
"	call	sc_probe_enter\n"
"	add	$8, %rsp\n"
"	pop	%r9\n"
"	pop	%r8\n"
"	pop	%rcx\n"
"	pop	%rdx\n"
"	pop	%rsi\n"
"	pop	%rdi\n"
"	pop	%r11\n"
"	pop	%r10\n"
"	pop	%rax\n"
"	ret\n"
"sc_probe_return:\n"
"	sub	$8, %rsp\n"
"	push	%rax\n"
"	push	%rdx\n"
"	sub	$8, %rsp\n"
"	mov	%rax, %rdi\n"
"	call	sc_probe_leave\n"
"	mov	%rax, 24(%rsp)\n"
"	add	$8, %rsp\n"
"	pop	%rdx\n"
"	pop	%rax\n"
"	ret\n"
"	.popsection\n"
);

sc_s64 sc_watch(sc_u32 decision, const void *address)
{
	addresses[decision] = (unsigned long)address;
	sc_probing = true;
	return 0;
}

#else

sc_s64 sc_watch(sc_u32 decision, const void *address)
{
	return -1;
}

#endif
