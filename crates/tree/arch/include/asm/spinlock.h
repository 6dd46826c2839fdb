/* SPDX-License-Identifier: GPL-2.0-only */
/* A lock is taken by somebody else only where that CPU waits in cpu_relax() with it; then this one waits too. */
#ifndef _ASM_SPINLOCK_H
#define _ASM_SPINLOCK_H
#include <asm/processor.h>
#include <asm/smp.h>

extern void sc_lock_waits(const void *lock, int holder);

#define arch_spin_is_locked(lock)		((lock)->holder != 0)
#define arch_spin_is_contended(lock)		0
#define arch_spin_value_unlocked(lock)		((lock).holder == 0)

static inline int arch_spin_trylock(arch_spinlock_t *lock)
{
	if (lock->holder)
		return 0;
	lock->holder = raw_smp_processor_id() + 1;
	return 1;
}

static inline void arch_spin_lock(arch_spinlock_t *lock)
{
	while (unlikely(!arch_spin_trylock(lock)))
		sc_lock_waits(lock, lock->holder - 1);
}

static inline void arch_spin_unlock(arch_spinlock_t *lock)
{
	lock->holder = 0;
}

static inline int arch_read_trylock(arch_rwlock_t *lock)
{
	if (lock->readers < 0)
		return 0;
	lock->readers++;
	return 1;
}

static inline int arch_write_trylock(arch_rwlock_t *lock)
{
	if (lock->readers)
		return 0;
	lock->readers = -1;
	return 1;
}

static inline void arch_read_lock(arch_rwlock_t *lock)
{
	while (unlikely(!arch_read_trylock(lock)))
		sc_lock_waits(lock, -1);
}

static inline void arch_write_lock(arch_rwlock_t *lock)
{
	while (unlikely(!arch_write_trylock(lock)))
		sc_lock_waits(lock, -1);
}

static inline void arch_read_unlock(arch_rwlock_t *lock)
{
	lock->readers--;
}

static inline void arch_write_unlock(arch_rwlock_t *lock)
{
	lock->readers = 0;
}
#endif
