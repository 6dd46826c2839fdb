/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks: who takes them, and what its CPU does while it holds them.
 *
 * A lock is known by what is written to it, so functions that are inlined are seen, too:
 *
 *	spinlock	compare and swap of 32 bits from unlocked to locked; released by a plain store of 0 to its first byte (POWER: or to all)
 *	rwlock		written: as a spinlock, with all bits of the byte; read: 512 more, released by 512 less
 *	mutex		64 bits from 0 to its owner; released by an atomic operation that leaves no owner
 *	rwsem		64 bits, written: from 0 to 1, released by 1 less; read: 256 more, released by 256 less
 *
 * The last two only in their own functions. A lock is a run queue's if a function took it that takes no others. Takings nest; each counts all that comes before its release. Instructions that a CPU spins
 * count for none.
 */
#include "lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HOLDS 24
/* A power of two, far more than there are callers. */
#define MAX_TALLIES 8192

#define READER 0x200
#define WRITER 0xff
#define SEM_READER 0x100
#define SEM_WRITER 1
/* Low bits of a mutex's owner and of a semaphore's count that are flags. */
#define FLAGS 7

enum how { HELD_SPIN, HELD_QUEUE, HELD_READ, HELD_MUTEX, HELD_SEM, HELD_SEM_READ, HOWS };

static const char *const names[HOWS] = { "spin", "queue", "read", "mutex", "sem", "sem_read" };

struct tally {
	uint64_t caller;
	enum how how;
	unsigned int section;
	uint64_t taken;
	uint64_t contended;
	uint64_t insns;
	uint64_t stalls;
	uint64_t spun;
};

struct hold {
	uint64_t address;
	struct tally *tally;
	enum how how;
	/* What the CPU had counted when it took the lock. */
	uint64_t insns;
	uint64_t stalls;
	uint64_t spun;
};

static struct {
	struct hold holds[MAX_HOLDS];
	unsigned int nr_holds;
	/* The lock that it waits for, or 0, for whom, and since when. */
	uint64_t wanted;
	uint64_t caller;
	uint64_t since;
	/* Instructions that it has spun in all. */
	uint64_t spun;
	struct tally tallies[MAX_TALLIES];
} states[MAX_CPUS];

/* Run queues' locks. Guests have one for each CPU. */
static _Atomic uint64_t queues[MAX_CPUS];

static bool is_queue(uint64_t address, uint64_t caller)
{
	for (unsigned int at = 0; at < MAX_CPUS; at++) {
		uint64_t none = 0, known = atomic_load_explicit(&queues[at], memory_order_relaxed);

		if (known == address)
			return true;
		if (known)
			continue;
		if (lock_text_at(caller) != RUN_QUEUE)
			return false;
		if (atomic_compare_exchange_strong(&queues[at], &none, address) || none == address)
			return true;
	}
	return false;
}

static uint64_t executed_at(unsigned int vcpu, const struct insn *insn)
{
	return qemu_plugin_u64_get(kernel_insns, vcpu) - insn->left;
}

static struct tally *tally_of(unsigned int vcpu, uint64_t caller, enum how how)
{
	unsigned int section = cpus[vcpu].section;
	uint64_t at = (caller * 0x9e3779b97f4a7c15ull >> 40) + how * 31 + section * 7;

	for (unsigned int looks = 0; looks < MAX_TALLIES; looks++, at++) {
		struct tally *tally = &states[vcpu].tallies[at % MAX_TALLIES];

		if (tally->caller == caller && tally->how == how && tally->section == section)
			return tally;
		if (!tally->caller) {
			tally->how = how;
			tally->section = section;
			tally->caller = caller;
			return tally;
		}
	}
	abort();
}

static void forget(unsigned int vcpu, unsigned int at)
{
	struct hold *holds = states[vcpu].holds;

	memmove(&holds[at], &holds[at + 1], (--states[vcpu].nr_holds - at) * sizeof(*holds));
}

static void take(unsigned int vcpu, const struct insn *insn, uint64_t address, enum how how)
{
	uint64_t now = executed_at(vcpu, insn), caller = qemu_plugin_u64_get(outside, vcpu), spun = 0;
	bool waited = states[vcpu].wanted == address;
	struct tally *tally;

	if (waited) {
		caller = states[vcpu].caller;
		spun = now - states[vcpu].since;
		states[vcpu].spun += spun;
		states[vcpu].wanted = 0;
	}
	if (how == HELD_SPIN && is_queue(address, caller))
		how = HELD_QUEUE;
	/* What looked like a lock and was none never ends. */
	if (states[vcpu].nr_holds == MAX_HOLDS)
		forget(vcpu, 0);
	tally = tally_of(vcpu, caller, how);
	tally->spun += spun;
	tally->contended += waited;
	states[vcpu].holds[states[vcpu].nr_holds++] = (struct hold){
		.address = address,
		.tally = tally,
		.how = how,
		.insns = now,
		.stalls = cpus[vcpu].stalls,
		.spun = states[vcpu].spun,
	};
}

static void wants(unsigned int vcpu, const struct insn *insn, uint64_t address)
{
	if (states[vcpu].wanted == address)
		return;
	states[vcpu].wanted = address;
	states[vcpu].caller = qemu_plugin_u64_get(outside, vcpu);
	states[vcpu].since = executed_at(vcpu, insn);
}

/* Counts the hold as one that ends here. */
static void end(unsigned int vcpu, const struct insn *insn, unsigned int at)
{
	const struct hold *hold = &states[vcpu].holds[at];
	uint64_t spun = states[vcpu].spun - hold->spun;

	hold->tally->taken++;
	hold->tally->insns += executed_at(vcpu, insn) - hold->insns - spun;
	hold->tally->stalls += cpus[vcpu].stalls - hold->stalls;
	forget(vcpu, at);
}

/* The place of the last taking of a lock, or MAX_HOLDS. */
static unsigned int held(unsigned int vcpu, uint64_t address)
{
	for (unsigned int at = states[vcpu].nr_holds; at; at--)
		if (states[vcpu].holds[at - 1].address == address)
			return at - 1;
	return MAX_HOLDS;
}

static uint64_t value_of(qemu_plugin_meminfo_t info)
{
	qemu_plugin_mem_value value = qemu_plugin_mem_get_value(info);

	switch (value.type) {
	case QEMU_PLUGIN_MEM_VALUE_U8:
		return value.data.u8;
	case QEMU_PLUGIN_MEM_VALUE_U16:
		return value.data.u16;
	case QEMU_PLUGIN_MEM_VALUE_U32:
		return value.data.u32;
	case QEMU_PLUGIN_MEM_VALUE_U64:
		return value.data.u64;
	default:
		return value.data.u128.low;
	}
}

/* What an atomic operation does to a lock's word. */
struct change {
	uint64_t was;
	/* What a compare and swap wrote, or would have. */
	uint64_t is;
	/* What is added, of so many bits. */
	uint64_t more;
	unsigned int bits;
	bool swaps;
};

/* Others than swaps give what they add, and what was there before or after it. */
static struct change change_of(const struct insn *insn, unsigned int bits, uint64_t was, uint64_t written)
{
	uint64_t more = insn->swaps ? written - was : written;

	return (struct change){ was, written, bits == 32 ? (uint32_t)more : more, bits, insn->swaps };
}

static bool adds(const struct change *change, unsigned int bits, int64_t more)
{
	return change->bits == bits && change->more == (bits == 32 ? (uint32_t)more : (uint64_t)more);
}

/* Whether it gives up a lock that is held so. */
static bool ends(enum how how, const struct change *change)
{
	switch (how) {
	case HELD_READ:
		return adds(change, 32, -READER);
	case HELD_MUTEX:
		return change->swaps && !(change->is & ~(uint64_t)FLAGS);
	case HELD_SEM:
		return adds(change, 64, -SEM_WRITER);
	case HELD_SEM_READ:
		return adds(change, 64, -SEM_READER);
	default:
		return change->swaps && !change->is;
	}
}

/* Whether a spinlock's word says that it is free. POWER's own spinlocks have the owner in bits 1 to 14; others have more flags. */
static bool is_free(uint64_t was)
{
	return options.machine == PPC64 ? !(was & 0x7fff) : !(was & 0xffff);
}

static void spins(unsigned int vcpu, const struct insn *insn, uint64_t address, const struct change *change)
{
	/* POWER's keep the queue's tail. */
	if (change->bits != 32 || !change->swaps || !(change->is & 1) || (change->is >> 16 && options.machine != PPC64))
		return;
	if (is_free(change->was))
		take(vcpu, insn, address, HELD_SPIN);
	else if (insn->text != SPINLOCK_TRY)
		wants(vcpu, insn, address);
}

static void reads_or_writes(unsigned int vcpu, const struct insn *insn, uint64_t address, const struct change *change)
{
	if (adds(change, 32, READER) && !(change->was & (READER - 1)))
		take(vcpu, insn, address, HELD_READ);
	else if (change->is == WRITER)
		spins(vcpu, insn, address, change);
}

static void sleeps_for(unsigned int vcpu, const struct insn *insn, uint64_t address, const struct change *change)
{
	if (change->bits != 64)
		return;
	if (insn->text == MUTEX) {
		if (change->swaps && !(change->was & ~(uint64_t)FLAGS) && change->is >> 63)
			take(vcpu, insn, address, HELD_MUTEX);
	} else if (change->swaps && !change->was && change->is == SEM_WRITER) {
		take(vcpu, insn, address, HELD_SEM);
	} else if (adds(change, 64, SEM_READER) && !(change->was & FLAGS)) {
		take(vcpu, insn, address, HELD_SEM_READ);
	}
}

static void changed(unsigned int vcpu, const struct insn *insn, uint64_t address, const struct change *change)
{
	unsigned int at = held(vcpu, address);

	if (at != MAX_HOLDS && ends(states[vcpu].holds[at].how, change)) {
		end(vcpu, insn, at);
		return;
	}
	switch (insn->text) {
	case RUN_QUEUE:
	case INLINED:
		if (!inlines_locks())
			return;
		if (change->is == 1)
			spins(vcpu, insn, address, change);
		else
			reads_or_writes(vcpu, insn, address, change);
		return;
	case SPINLOCK:
	case SPINLOCK_TRY:
		spins(vcpu, insn, address, change);
		return;
	case RWLOCK:
		reads_or_writes(vcpu, insn, address, change);
		return;
	case MUTEX:
	case RWSEM:
		sleeps_for(vcpu, insn, address, change);
		return;
	default:
		return;
	}
}

void lock_accessed(unsigned int vcpu, const struct insn *insn, qemu_plugin_meminfo_t info, uint64_t address)
{
	unsigned int bits = 8u << qemu_plugin_mem_size_shift(info), at;
	struct change change;

	if (!qemu_plugin_mem_is_store(info)) {
		if (insn->atomic)
			cpus[vcpu].was = value_of(info);
		return;
	}
	if (insn->atomic) {
		change = change_of(insn, bits, cpus[vcpu].was, value_of(info));
		changed(vcpu, insn, address, &change);
		return;
	}
	/* Who comes out of a queue sets the lock by a plain store. */
	if (states[vcpu].wanted == address && (insn->text == SPINLOCK || insn->text == RWLOCK) && value_of(info) & 1) {
		take(vcpu, insn, address, HELD_SPIN);
		return;
	}
	if (!states[vcpu].nr_holds || (bits != 8 && !(bits == 32 && options.machine == PPC64)))
		return;
	at = held(vcpu, address);
	if (at != MAX_HOLDS && states[vcpu].holds[at].how <= HELD_QUEUE && !value_of(info))
		end(vcpu, insn, at);
}

void write_locks(unsigned int vcpu)
{
	for (unsigned int at = 0; at < MAX_TALLIES; at++) {
		const struct tally *tally = &states[vcpu].tallies[at];

		if (tally->caller && tally->taken && tally->section)
			fprintf(options.out, "lock %u %u %s %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", vcpu,
				tally->section, names[tally->how], tally->caller, tally->taken, tally->contended, tally->insns,
				tally->stalls, tally->spun);
	}
}
