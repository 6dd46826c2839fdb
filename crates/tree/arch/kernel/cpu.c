// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs as contexts of one thread.
 *
 * sc_enter() puts the state of a CPU where the kernel looks for it (current, offset of its per-CPU area, interrupt flag) and goes on
 * on the stack of its task. That comes back by sc_wait(): in user mode, idle, or in a loop that waits for another CPU. A CPU that
 * spins is entered again after the others had their turn; so locks and calls between CPUs work as they do on hardware, and two CPUs
 * that wait for each other are found by counting.
 */
#include <linux/cpu.h>
#include <linux/sched/task_stack.h>
#include "machine.h"

struct task_struct *sc_current = &init_task;
unsigned long sc_irqs_on, sc_irqs_waiting, sc_percpu_offset;
int sc_cpu;
struct sc_context sc_contexts[NR_CPUS];
u64 sc_now_ns;
bool sc_booted;

void sc_set_now(sc_u64 ns);

static void *host_sp;
static unsigned int spins;

/* So many rounds of waiting at one instant are a deadlock. */
#define SPINS_AT_MOST	1000000

static void save(void)
{
	struct sc_context *c = &sc_contexts[sc_cpu];

	c->curr = sc_current;
	c->irqs_on = sc_irqs_on;
	c->irqs_waiting = sc_irqs_waiting;
}

static void load(int cpu)
{
	struct sc_context *c = &sc_contexts[cpu];

	sc_cpu = cpu;
	sc_current = c->curr;
	sc_irqs_on = c->irqs_on;
	sc_irqs_waiting = c->irqs_waiting;
	sc_percpu_offset = sc_offset_of_cpu[cpu];
}

/* The CPU waits; its simulator decides when it goes on. */
void sc_wait(enum sc_waits why)
{
	sc_contexts[sc_cpu].waits = why;
	save();
	sc_switch_stack(&sc_current->thread.sp, host_sp, NULL);
}

enum sc_waits sc_enter(sc_u32 cpu)
{
	if (sc_contexts[cpu].waits == SC_OFF)
		return SC_OFF;
	load(cpu);
	sc_switch_stack(&host_sp, sc_current->thread.sp, NULL);
	return sc_contexts[cpu].waits;
}

void sc_turn(struct sc_turn *turn)
{
	struct sc_context *c = &sc_contexts[turn->cpu];

	sc_set_now(turn->now_ns);
	if (unlikely(turn->now_ns >= sc_debug.stop_ns)) {
		sc_debug.stop_ns = ~0ULL;
		sc_reached(turn);
	}
	c->call = turn->call;
	c->irqs_waiting |= turn->irqs;
	sc_looks_begin(turn);
	turn->waits = sc_enter(turn->cpu);
	sc_looks_end(turn);
	turn->current_task = c->curr->pid;
}

/* The hardware's part of a context switch. */
struct task_struct *sc_switch_to(struct task_struct *prev, struct task_struct *next)
{
	sc_searching = false;
	sc_current = next;
	return sc_switch_stack(&prev->thread.sp, next->thread.sp, prev);
}

void sc_relax(void)
{
	if (++spins > SPINS_AT_MOST)
		panic("CPU %d (%s/%d) spins for ever", sc_cpu, current->comm, current->pid);
	sc_wait(SC_SPINS);
	if (sc_irqs_on && sc_irqs_waiting)
		sc_take_interrupts();
}

void sc_lock_waits(const void *lock, int holder)
{
	if (holder == sc_cpu)
		panic("CPU %d (%s/%d) waits for a lock at %p that it holds itself", sc_cpu, current->comm, current->pid, lock);
	sc_relax();
}

void sc_set_now(sc_u64 ns)
{
	if (ns != sc_now_ns)
		spins = 0;
	sc_now_ns = ns;
}

void sc_delay(unsigned long long ns)
{
	u64 until = sc_now_ns + ns;

	while (sc_now_ns < until)
		sc_relax();
}

/* Without a driver for idle states, as while the machine boots. Interrupts are off, and one that comes ends it. */
void arch_cpu_idle(void)
{
	sc_contexts[sc_cpu].idle_state = 0;
	sc_contexts[sc_cpu].idle_until_ns = KTIME_MAX;
	if (!sc_irqs_waiting)
		sc_wait(SC_IDLE);
	raw_local_irq_enable();
#if SC_IDLE_RETURNS_OFF
	raw_local_irq_disable();
#endif
}

void smp_prepare_boot_cpu(void) { }
void smp_cpus_done(unsigned int max_cpus) { }
