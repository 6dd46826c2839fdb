/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CMPXCHG_H
#define _ASM_CMPXCHG_H

/* See asm/atomic.h: nobody is in between. */
#define arch_xchg(ptr, x)						\
({									\
	__typeof__(ptr) sc_p = (ptr);					\
	__typeof__(*(ptr)) sc_old = *sc_p;				\
	*sc_p = (__typeof__(*(ptr)))(x);				\
	sc_old;								\
})

#define arch_cmpxchg(ptr, o, n)						\
({									\
	__typeof__(ptr) sc_p = (ptr);					\
	__typeof__(*(ptr)) sc_old = *sc_p;				\
	if (sc_old == (__typeof__(*(ptr)))(o))				\
		*sc_p = (__typeof__(*(ptr)))(n);			\
	sc_old;								\
})

#define arch_cmpxchg_local		arch_cmpxchg
#define arch_cmpxchg64			arch_cmpxchg
#define arch_cmpxchg64_local		arch_cmpxchg

#endif
