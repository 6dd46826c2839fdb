/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SPINLOCK_TYPES_H
#define _ASM_SPINLOCK_TYPES_H
/* The holder is noted for the message of a deadlock: its CPU + 1. */
typedef struct { unsigned int holder; } arch_spinlock_t;
typedef struct { int readers; } arch_rwlock_t;
#define __ARCH_SPIN_LOCK_UNLOCKED	{ 0 }
#define __ARCH_RW_LOCK_UNLOCKED		{ 0 }
#endif
