/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cache lines that travel between a guest's CPUs, counted.
 *
 * Every CPU has a cache without end and MESI's states, by physical line: whatever it has touched it keeps until another CPU writes it.
 * So what is counted is communication alone. Fetches of instructions and walks of page tables are not seen.
 */
#ifndef LINES_H
#define LINES_H

#include "qemu.h"
#include <stdatomic.h>
#include <stdio.h>

#define MAX_CPUS 32
#define MAX_SECTIONS 16

/* Why a CPU had to ask another one. */
enum kind {
	READ,		/* a read: waits for the line */
	ATOMIC,		/* an atomic operation: waits for the line */
	ATOMIC_UPGRADE,	/* an atomic operation on a line that others have, too: waits for them to give it up */
	UPGRADE,	/* a plain write of a line that others have, too */
	WRITE,		/* a plain write of a line that only others have */
	KINDS
};

/* Functions that take and release locks. */
enum lock_text {
	NO_LOCK,
	SPINLOCK,
	SPINLOCK_TRY,	/* gives up where the lock is taken */
	RWLOCK,
	MUTEX,
	RWSEM,
	HELPER,		/* takes none, and lock functions call it */
	RUN_QUEUE,	/* no lock function: takes no locks but run queues' */
	INLINED		/* no lock function, but where locks may be inlined */
};

/* An instruction that was translated. */
struct insn {
	bool atomic;
	bool in_kernel;
	/* Of atomic ones: writes what does not depend on what it reads. */
	bool swaps;
	/* Where locks are watched, of the kernel: what it may do to a lock. */
	enum lock_text text;
	/* Instructions of the kernel that follow in its block, which counts as executed as a whole when it begins. */
	uint16_t left;
};

/*
 * A store that has to wait for its line waits in the store buffer, and the CPU goes on, unless a barrier or an atomic operation comes
 * before it is done. Stores that wait at the same time do so side by side, so it is barriers that are counted: those within so many
 * instructions of such a store. A line comes in about 100 ns.
 */
#define PENDING 256

/* What a CPU counts in a section of its program. */
struct counts {
	uint64_t lines[KINDS][MAX_CPUS];	/* by the CPU that had the line */
	uint64_t kernel_insns;
	uint64_t user_insns;
	uint64_t store_waits;	/* barriers that had to wait for stores */
	uint64_t unseen;	/* accesses beyond the memory that is watched */
};

struct cpu {
	struct counts counts[MAX_SECTIONS];
	unsigned int section;
	/* What its scoreboard said when its section began. */
	uint64_t kernel_before;
	uint64_t user_before;
	/* How many instructions it had executed at its last store that waits, and one more; 0 where none does. */
	uint64_t stored;
	/* Times that it waited for a line or for stores, in all sections. */
	uint64_t stalls;
	/* What its atomic operation under way has read. */
	uint64_t was;
	/* Instructions that it is ahead by, for the lockstep. */
	_Atomic uint64_t progress;
	_Atomic bool runs;
} __attribute__((aligned(256)));

extern struct cpu cpus[MAX_CPUS];

enum machine { AARCH64, PPC64, X86_64 };

struct options {
	enum machine machine;
	unsigned int nr_cpus;
	unsigned int line_shift;
	uint64_t quantum;
	FILE *out;
};
extern struct options options;
/* outside: the last block of the kernel that is no lock function's. */
extern qemu_plugin_u64 kernel_insns, user_insns, ahead, outside;

/* coherence.c */
bool make_lines(void);
void touch(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *insn);
void barrier(unsigned int vcpu, void *unused);

/* decode.c */
bool is_atomic(const uint8_t *bytes, size_t size);
/* Whether an atomic instruction writes what does not depend on what it reads. */
bool is_swap(const uint8_t *bytes, size_t size);
/* Whether the CPU waits there until its stores are done. */
bool is_barrier(const uint8_t *bytes, size_t size);
/* The number of a mark, or -1. */
int mark_of(const uint8_t *bytes, size_t size);

/* locks.c */
void lock_accessed(unsigned int vcpu, const struct insn *insn, qemu_plugin_meminfo_t info, uint64_t address);
void write_locks(unsigned int vcpu);

/* lockstep.c */
void step(unsigned int vcpu, void *unused);
void goes_idle(qemu_plugin_id_t id, unsigned int vcpu);
void goes_on(qemu_plugin_id_t id, unsigned int vcpu);
uint64_t gave_up(void);

/* text.c */
bool read_lock_text(const char *path);
bool watches_locks(void);
/* Whether the kernel inlines spinlocks. */
bool inlines_locks(void);
/* What the function at an address of the kernel does to locks. */
enum lock_text lock_text_at(uint64_t vaddr);

/* marks.c */
#define MARK_WATCH 0x10
#define MARK_SNAPSHOT 0x20
void reached(unsigned int vcpu, void *mark);
void snapshot(unsigned int number);
/* Its CPU goes idle: what it does from there on is another section than what led there. */
void sleeps(unsigned int vcpu);

#endif
