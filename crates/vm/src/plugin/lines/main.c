/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plugin: `-plugin FILE,out=PATH,line=BYTES,quantum=INSTRUCTIONS,locks=PATH`, the last where locks are watched, too.
 *
 * The guest boots unwatched, at full speed, and asks to be watched by a mark: then all of its code is translated anew. QEMU must run
 * each vCPU in a thread of its own (`thread=multi`): otherwise it takes the vCPU's number in callbacks for a constant.
 */
#define _GNU_SOURCE
#include "lines.h"

#include <stdlib.h>
#include <string.h>

EXPORT int qemu_plugin_version = 4;

struct cpu cpus[MAX_CPUS];
struct options options = { .line_shift = 6, .quantum = 200 };
qemu_plugin_u64 kernel_insns, user_insns, ahead, outside;
static qemu_plugin_id_t self;
static bool watching;

/* Lives as long as QEMU: a block never says when it goes. */
static struct insn *new_insn(void)
{
	enum { CHUNK = 4096 };
	static _Thread_local struct insn *chunk;
	static _Thread_local unsigned int used = CHUNK;

	if (used == CHUNK) {
		chunk = calloc(CHUNK, sizeof(*chunk));
		if (!chunk)
			abort();
		used = 0;
	}
	return &chunk[used++];
}

static void begin(qemu_plugin_id_t id);

static void watch(unsigned int vcpu, void *data)
{
	static atomic_flag asked = ATOMIC_FLAG_INIT;

	(void)vcpu;
	(void)data;
	if (!atomic_flag_test_and_set(&asked)) {
		watching = true;
		qemu_plugin_reset(self, begin);
	}
}

/* Kernels are in the upper half of all addresses, and a block is on one side. */
static bool in_kernel(const struct qemu_plugin_insn *insn)
{
	return qemu_plugin_insn_vaddr(insn) >> 63;
}

/* `left` instructions of the kernel follow in the block. */
static void translate_insn(struct qemu_plugin_insn *insn, size_t left)
{
	uint8_t bytes[16];
	size_t size = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	int mark = mark_of(bytes, size);
	struct insn *known;

	if (mark >= 0)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, mark == MARK_WATCH ? watch : reached, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)mark);
	if (!watching)
		return;
	if (is_barrier(bytes, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, barrier, QEMU_PLUGIN_CB_NO_REGS, NULL);
	known = new_insn();
	known->atomic = is_atomic(bytes, size);
	known->in_kernel = in_kernel(insn);
	known->left = (uint16_t)left;
	if (known->in_kernel && watches_locks()) {
		known->text = lock_text_at(qemu_plugin_insn_vaddr(insn));
		known->swaps = known->atomic && is_swap(bytes, size);
	}
	qemu_plugin_register_vcpu_mem_cb(insn, touch, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, known);
}

static bool in_lock_text(uint64_t vaddr)
{
	enum lock_text text = lock_text_at(vaddr);

	return text != NO_LOCK && text != RUN_QUEUE && text != INLINED;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t all = qemu_plugin_tb_n_insns(tb), of_kernel = 0;
	uint64_t vaddr = qemu_plugin_tb_vaddr(tb);

	(void)id;
	for (size_t at = 0; at < all; at++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, at);

		of_kernel += in_kernel(insn);
		translate_insn(insn, all - at - 1);
	}
	if (!watching)
		return;
	if (of_kernel)
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, kernel_insns, of_kernel);
	if (all - of_kernel)
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, user_insns, all - of_kernel);
	if (of_kernel && watches_locks() && !in_lock_text(vaddr))
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_STORE_U64, outside, vaddr);
	if (options.quantum) {
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, ahead, all);
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, step, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_COND_GE, ahead,
							  options.quantum, NULL);
	}
}

static void ends(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	fprintf(options.out, "end %lu\n", gave_up());
	fclose(options.out);
}

static void begin(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, ends, NULL);
	if (options.quantum) {
		qemu_plugin_register_vcpu_idle_cb(id, goes_idle);
		qemu_plugin_register_vcpu_resume_cb(id, goes_on);
	}
}

static bool take(const char *argument)
{
	if (!strncmp(argument, "out=", 4))
		return (options.out = fopen(argument + 4, "we"));
	if (!strncmp(argument, "line=", 5)) {
		unsigned int bytes = (unsigned int)strtoul(argument + 5, NULL, 10);

		options.line_shift = bytes ? (unsigned int)__builtin_ctz(bytes) : 0;
		return options.line_shift >= 4 && bytes == 1u << options.line_shift;
	}
	if (!strncmp(argument, "quantum=", 8)) {
		options.quantum = strtoull(argument + 8, NULL, 10);
		return true;
	}
	if (!strncmp(argument, "locks=", 6))
		return read_lock_text(argument + 6);
	return false;
}

static bool know_machine(const char *target)
{
	static const char *const names[] = { [AARCH64] = "aarch64", [PPC64] = "ppc64", [X86_64] = "x86_64" };

	for (unsigned int at = 0; at < sizeof(names) / sizeof(names[0]); at++)
		if (!strcmp(target, names[at])) {
			options.machine = at;
			return true;
		}
	return false;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	struct qemu_plugin_scoreboard *board;

	for (int at = 0; at < argc; at++)
		if (!take(argv[at])) {
			fprintf(stderr, "lines: found %s, expected out=PATH, line=BYTES, quantum=INSTRUCTIONS or locks=PATH\n", argv[at]);
			return 1;
		}
	if (!options.out || !know_machine(info->target_name) || info->system.smp_vcpus > MAX_CPUS || !make_lines()) {
		fprintf(stderr, "lines: found %s with %d CPUs, expected aarch64, ppc64 or x86_64 with at most %d, and out=PATH\n",
			info->target_name, info->system.smp_vcpus, MAX_CPUS);
		return 1;
	}
	self = id;
	options.nr_cpus = (unsigned int)info->system.smp_vcpus;
	board = qemu_plugin_scoreboard_new(4 * sizeof(uint64_t));
	kernel_insns = (qemu_plugin_u64){ board, 0 };
	user_insns = (qemu_plugin_u64){ board, sizeof(uint64_t) };
	ahead = (qemu_plugin_u64){ board, 2 * sizeof(uint64_t) };
	outside = (qemu_plugin_u64){ board, 3 * sizeof(uint64_t) };
	begin(id);
	return 0;
}
