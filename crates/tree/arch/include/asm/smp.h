/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SMP_H
#define _ASM_SMP_H
struct cpumask;
extern int sc_cpu;
#define raw_smp_processor_id()	sc_cpu
/* The first name from 6.4 on, the second before. */
extern void arch_smp_send_reschedule(int cpu);
extern void smp_send_reschedule(int cpu);
extern void arch_send_call_function_single_ipi(int cpu);
extern void arch_send_call_function_ipi_mask(const struct cpumask *mask);
extern int __cpu_disable(void);
extern void __cpu_die(unsigned int cpu);
#endif
