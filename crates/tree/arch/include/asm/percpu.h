/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_PERCPU_H
#define _ASM_PERCPU_H
#ifndef __ASSEMBLY__
extern unsigned long sc_percpu_offset;
#define __my_cpu_offset	sc_percpu_offset

/*
 * The area of another CPU is where the kernel looks at it. Looks are counted, since they cost time (looks.c): one for each CPU that
 * code goes on to.
 */
extern unsigned long sc_offset_of_cpu[];
extern int sc_looked_at;
extern unsigned int sc_looks;

static inline unsigned long sc_look_at(unsigned int cpu)
{
	if (cpu != sc_looked_at) {
		sc_looked_at = cpu;
		sc_looks++;
	}
	return sc_offset_of_cpu[cpu];
}

#define __per_cpu_offset(cpu)	sc_look_at(cpu)
#define per_cpu_offset(cpu)	sc_look_at(cpu)
#endif
#include <asm-generic/percpu.h>

/* An interrupt comes only where the kernel lets it, so these need not keep it away. */
#undef this_cpu_generic_read
#undef this_cpu_generic_to_op
#undef this_cpu_generic_add_return
#undef this_cpu_generic_xchg
#undef this_cpu_generic_cmpxchg
#define this_cpu_generic_read(pcp)			READ_ONCE(*raw_cpu_ptr(&(pcp)))
#define this_cpu_generic_to_op(pcp, val, op)		raw_cpu_generic_to_op(pcp, val, op)
#define this_cpu_generic_add_return(pcp, val)		raw_cpu_generic_add_return(pcp, val)
#define this_cpu_generic_xchg(pcp, nval)		raw_cpu_generic_xchg(pcp, nval)
#define this_cpu_generic_cmpxchg(pcp, oval, nval)	raw_cpu_generic_cmpxchg(pcp, oval, nval)
#endif
