/* SPDX-License-Identifier: GPL-2.0-only */
/* One thread runs all CPUs, and they change places only where they wait: every access is atomic. */
#ifndef _ASM_ATOMIC_H
#define _ASM_ATOMIC_H

#include <linux/types.h>
#include <linux/version.h>
#include <asm/barrier.h>
#include <asm/cmpxchg.h>

#ifndef ATOMIC64_INIT
#define ATOMIC64_INIT(i)		{ (i) }
#endif

#define arch_atomic_read(v)		READ_ONCE((v)->counter)
#define arch_atomic_set(v, i)		WRITE_ONCE((v)->counter, (i))
#define arch_atomic64_read(v)		READ_ONCE((v)->counter)
#define arch_atomic64_set(v, i)		WRITE_ONCE((v)->counter, (i))

#define SC_CHANGE(type, n, name, expr)						\
static __always_inline void arch_##type##_##name(n i, type##_t *v)		\
{										\
	n old = v->counter;							\
	v->counter = (expr);							\
}										\
static __always_inline n arch_##type##_fetch_##name(n i, type##_t *v)		\
{										\
	n old = v->counter;							\
	v->counter = (expr);							\
	return old;								\
}

#define SC_RETURN(type, n, name, expr)						\
static __always_inline n arch_##type##_##name##_return(n i, type##_t *v)	\
{										\
	n old = v->counter;							\
	return v->counter = (expr);						\
}

#define SC_ALL(type, n)								\
	SC_CHANGE(type, n, add, old + i)					\
	SC_CHANGE(type, n, sub, old - i)					\
	SC_CHANGE(type, n, and, old & i)					\
	SC_CHANGE(type, n, or, old | i)						\
	SC_CHANGE(type, n, xor, old ^ i)					\
	SC_CHANGE(type, n, andnot, old & ~i)					\
	SC_RETURN(type, n, add, old + i)					\
	SC_RETURN(type, n, sub, old - i)

SC_ALL(atomic, int)
SC_ALL(atomic64, s64)

/* The generic headers look for these names to know what the architecture has. */
#define arch_atomic_add_return		arch_atomic_add_return
#define arch_atomic_sub_return		arch_atomic_sub_return
#define arch_atomic_fetch_add		arch_atomic_fetch_add
#define arch_atomic_fetch_sub		arch_atomic_fetch_sub
#define arch_atomic_fetch_and		arch_atomic_fetch_and
#define arch_atomic_fetch_or		arch_atomic_fetch_or
#define arch_atomic_fetch_xor		arch_atomic_fetch_xor
#define arch_atomic_fetch_andnot	arch_atomic_fetch_andnot
#define arch_atomic_andnot		arch_atomic_andnot
#define arch_atomic64_add_return	arch_atomic64_add_return
#define arch_atomic64_sub_return	arch_atomic64_sub_return
#define arch_atomic64_fetch_add		arch_atomic64_fetch_add
#define arch_atomic64_fetch_sub		arch_atomic64_fetch_sub
#define arch_atomic64_fetch_and		arch_atomic64_fetch_and
#define arch_atomic64_fetch_or		arch_atomic64_fetch_or
#define arch_atomic64_fetch_xor		arch_atomic64_fetch_xor
#define arch_atomic64_fetch_andnot	arch_atomic64_fetch_andnot
#define arch_atomic64_andnot		arch_atomic64_andnot

/* From 6.5 on these four are made of arch_xchg() and arch_cmpxchg(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define ARCH_ATOMIC
#define arch_atomic_xchg(v, new)		arch_xchg(&(v)->counter, (new))
#define arch_atomic_cmpxchg(v, old, new)	arch_cmpxchg(&(v)->counter, (old), (new))
#define arch_atomic64_xchg(v, new)		arch_xchg(&(v)->counter, (new))
#define arch_atomic64_cmpxchg(v, old, new)	arch_cmpxchg(&(v)->counter, (old), (new))
#endif

#endif
