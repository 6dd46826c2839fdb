// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: what the entry code does around the handlers.
 *
 * An interrupt waits until its CPU takes interrupts: at once in user mode and in idle, else when the kernel enables them. Handlers are
 * the kernel's own. On the way back to the kernel the task may be preempted (CONFIG_PREEMPTION), on the way back to user mode the
 * loop in task.c looks for what is to be done.
 */
#include <linux/irq_work.h>
#include <linux/interrupt.h>
#include <linux/hardirq.h>
#include <linux/smp.h>
#include <asm/irq_regs.h>
#include "machine.h"
#include "smp.h"

extern void preempt_schedule_irq(void);

static void handle(unsigned long irq)
{
	switch (irq) {
	case SC_IRQ_RESCHED:
		scheduler_ipi();
		break;
	case SC_IRQ_CALL:
		generic_smp_call_function_interrupt();
		break;
	case SC_IRQ_WORK:
		irq_work_run();
		break;
	case SC_IRQ_TIMER:
		sc_timer_interrupt();
		break;
	case SC_IRQ_DEVICE:
		if (sc_servant)
			wake_up_process(sc_servant);
		break;
	case SC_IRQ_WAKE:
		sc_wake_from_interrupt();
		break;
	case SC_IRQ_START:
		break;
	default:
		panic("interrupt %lx", irq);
	}
}

static void take(bool user)
{
	struct pt_regs regs = { .user = user }, *old;

	while (sc_irqs_waiting) {
		unsigned long irq = sc_irqs_waiting & -sc_irqs_waiting;

		sc_irqs_waiting &= ~irq;
		sc_irqs_on = 0;
		irq_enter();
		old = set_irq_regs(&regs);
		handle(irq);
		set_irq_regs(old);
		irq_exit();
		if (!user && IS_ENABLED(CONFIG_PREEMPTION) && !preempt_count() && need_resched() && !is_idle_task(current))
			preempt_schedule_irq();
	}
	sc_irqs_on = 1;
}

void sc_take_interrupts(void)
{
	take(false);
}

void sc_take_from_user(void)
{
	take(true);
}

/* From the simulator, or from here while nobody simulates yet. */
void sc_raise(sc_u32 cpu, sc_u32 irq)
{
	if (cpu == sc_cpu)
		sc_irqs_waiting |= irq;
	sc_contexts[cpu].irqs_waiting |= irq;
}

void sc_send(int cpu, sc_u32 irq)
{
	if (irq == SC_IRQ_CALL)
		sc_count_kick(cpu);
	if (sc_booted)
		sc_host->event(SC_EVENT_INTERRUPT, sc_cpu, cpu, irq);
	else
		sc_raise(cpu, irq);
}

void arch_smp_send_reschedule(int cpu)
{
	sc_send(cpu, SC_IRQ_RESCHED);
}

void arch_send_call_function_single_ipi(int cpu)
{
	sc_send(cpu, SC_IRQ_CALL);
}

void arch_send_call_function_ipi_mask(const struct cpumask *mask)
{
	int cpu;

	for_each_cpu(cpu, mask)
		sc_send(cpu, SC_IRQ_CALL);
}

void arch_irq_work_raise(void)
{
	sc_raise(sc_cpu, SC_IRQ_WORK);
}
