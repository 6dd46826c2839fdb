/* SPDX-License-Identifier: GPL-2.0-only */
/* Who has which line. */
#define _GNU_SOURCE
#include "lines.h"

#include <sys/mman.h>

/* Physical memory that is watched. */
#define WATCHED (8ull << 30)

/*
 * A line's state. Bits 0 to 31: CPUs that have it. From bit 32: the last CPU that wrote it, and one more, 0 for none. A line that has a
 * writer is his alone.
 */
typedef uint64_t state_t;
#define HOLDERS(state) ((uint32_t)(state))
#define WRITER(state) ((int)((state) >> 32) - 1)
#define OWNED_BY(vcpu) (1ull << (vcpu) | ((state_t)(vcpu) + 1) << 32)

static _Atomic state_t *lines;
static uint64_t nr_lines;

bool make_lines(void)
{
	nr_lines = WATCHED >> options.line_shift;
	lines = mmap(NULL, nr_lines * sizeof(*lines), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return lines != MAP_FAILED;
}

static uint64_t executed(unsigned int vcpu)
{
	return qemu_plugin_u64_get(kernel_insns, vcpu) + qemu_plugin_u64_get(user_insns, vcpu);
}

void barrier(unsigned int vcpu, void *unused)
{
	struct cpu *cpu = &cpus[vcpu];

	(void)unused;
	if (cpu->stored && executed(vcpu) + 1 - cpu->stored <= PENDING) {
		cpu->counts[cpu->section].store_waits++;
		cpu->stalls++;
	}
	cpu->stored = 0;
}

static void count(unsigned int vcpu, enum kind kind, state_t before, uint32_t others)
{
	struct cpu *cpu = &cpus[vcpu];
	int writer = WRITER(before);
	unsigned int from = writer >= 0 && others >> writer & 1 ? (unsigned int)writer : (unsigned int)__builtin_ctz(others);

	cpu->counts[cpu->section].lines[kind][from]++;
	if (kind == UPGRADE || kind == WRITE)
		cpu->stored = executed(vcpu) + 1;
	else
		cpu->stalls++;
}

static void read_line(unsigned int vcpu, _Atomic state_t *line)
{
	state_t before = atomic_load_explicit(line, memory_order_relaxed), mine = 1ull << vcpu;
	uint32_t others;

	do {
		if (before & mine)
			return;
		/* The writer stays known: a clean line comes from him, too. */
	} while (!atomic_compare_exchange_weak(line, &before, before | mine));
	others = HOLDERS(before);
	if (others)
		count(vcpu, READ, before, others);
}

static void own_line(unsigned int vcpu, _Atomic state_t *line, bool atomic)
{
	state_t before = atomic_load_explicit(line, memory_order_relaxed), owned = OWNED_BY(vcpu), mine = 1ull << vcpu;
	uint32_t others;

	if (before == owned)
		return;
	before = atomic_exchange(line, owned);
	others = HOLDERS(before) & ~(uint32_t)mine;
	if (!others)
		return;
	if (before & mine)
		count(vcpu, atomic ? ATOMIC_UPGRADE : UPGRADE, before, others);
	else
		count(vcpu, atomic ? ATOMIC : WRITE, before, others);
}

void touch(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct qemu_plugin_hwaddr *address = qemu_plugin_get_hwaddr(info, vaddr);
	const struct insn *insn = data;
	uint64_t at, first, last;

	if (!address || qemu_plugin_hwaddr_is_io(address))
		return;
	first = qemu_plugin_hwaddr_phys_addr(address);
	last = (first + (1ull << qemu_plugin_mem_size_shift(info)) - 1) >> options.line_shift;
	at = first;
	first >>= options.line_shift;
	if (last >= nr_lines) {
		cpus[vcpu].counts[cpus[vcpu].section].unseen++;
		return;
	}
	if (insn->atomic)
		barrier(vcpu, NULL);
	for (uint64_t line = first; line <= last; line++) {
		/* The read of an atomic operation asks for the line as a write does. */
		if (insn->atomic || qemu_plugin_mem_is_store(info))
			own_line(vcpu, &lines[line], insn->atomic);
		else
			read_line(vcpu, &lines[line]);
	}
	if (insn->in_kernel && watches_locks())
		lock_accessed(vcpu, insn, info, at);
}
