/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_IRQFLAGS_H
#define _ASM_IRQFLAGS_H
/* Of the CPU that executes now: whether it takes interrupts, and which wait for it. */
extern unsigned long sc_irqs_on;
extern unsigned long sc_irqs_waiting;
extern void sc_take_interrupts(void);

static inline unsigned long arch_local_save_flags(void)
{
	return sc_irqs_on;
}

static inline void arch_local_irq_restore(unsigned long flags)
{
	sc_irqs_on = flags;
	if (__builtin_expect(flags && sc_irqs_waiting, 0))
		sc_take_interrupts();
}

#define arch_local_save_flags	arch_local_save_flags
#define arch_local_irq_restore	arch_local_irq_restore
#define ARCH_IRQ_DISABLED	0
#define ARCH_IRQ_ENABLED	1
#include <asm-generic/irqflags.h>
#endif
