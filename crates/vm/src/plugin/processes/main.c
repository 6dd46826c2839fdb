/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plugin for QEMU that counts what processes execute, and which lines they are the first to touch, for script/count-processes:
 * `-plugin FILE,fork=ADDRESS,exec=ADDRESS,exit=ADDRESS,out=PATH`, with the addresses of ret_from_fork, begin_new_exec and do_exit in the
 * guest's kernel. The guest has one CPU.
 *
 * Each of the three ends a stretch, and the plugin writes a line: which of them it was, instructions of kernel and user, distinct lines
 * that were fetched by kernel and user, and of data, first read and first written. After a fork and an exit all lines are new again; a program that
 * is loaded goes on with those of its process.
 */
#include "qemu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT int qemu_plugin_version = 4;

enum side { KERNEL, USER };
enum end { FORK, EXEC, EXIT, ENDS };

/* Instructions that follow each other in one line of code. */
struct run {
	uint64_t line;
	enum side side;
	unsigned int insns;
};

static const char *const names[ENDS] = { "fork", "exec", "exit" };
static uint64_t ends[ENDS];
static FILE *out;

/* When a line was touched last, in stretches; by its number, of which the lowest bits do for a guest of 8 GiB. */
enum { LINE_SHIFT = 6, BITS = 27 };
static uint32_t *data_seen, *code_seen, stretch = 1;

static struct {
	uint64_t insns[2], code[2], read, written;
} now;

static void ended(unsigned int vcpu, void *data)
{
	enum end end = (enum end)(uintptr_t)data;

	(void)vcpu;
	fprintf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", names[end], now.insns[KERNEL],
		now.insns[USER], now.code[KERNEL], now.code[USER], now.read, now.written);
	memset(&now, 0, sizeof(now));
	if (end != EXEC)
		stretch++;
}

static void executed(unsigned int vcpu, void *data)
{
	const struct run *run = data;
	/* Lines of code are known by where QEMU has them; a product spreads them. */
	uint64_t at = (run->line * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - BITS);

	(void)vcpu;
	now.insns[run->side] += run->insns;
	if (code_seen[at] != stretch) {
		code_seen[at] = stretch;
		now.code[run->side]++;
	}
}

static void touched(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, address);
	uint64_t at;

	(void)vcpu;
	(void)data;
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	at = (qemu_plugin_hwaddr_phys_addr(where) >> LINE_SHIFT) & ((UINT64_C(1) << BITS) - 1);
	if (data_seen[at] == stretch)
		return;
	data_seen[at] = stretch;
	if (qemu_plugin_mem_is_store(info))
		now.written++;
	else
		now.read++;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct run *run = NULL;

	(void)id;
	for (size_t n = 0; n < qemu_plugin_tb_n_insns(tb); n++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		uint64_t line = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn) >> LINE_SHIFT;

		for (int end = 0; end < ENDS; end++)
			if (address == ends[end])
				qemu_plugin_register_vcpu_insn_exec_cb(insn, ended, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)end);
		if (!run || run->line != line) {
			/* Lives as long as QEMU: a block never says when it goes. */
			run = calloc(1, sizeof(*run));
			if (!run)
				abort();
			run->line = line;
			run->side = address >> 63 ? KERNEL : USER;
			qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, QEMU_PLUGIN_CB_NO_REGS, run);
		}
		run->insns++;
		qemu_plugin_register_vcpu_mem_cb(insn, touched, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
	}
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	fclose(out);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	for (int n = 0; n < argc; n++) {
		char *value = strchr(argv[n], '=');

		if (!value)
			return 1;
		*value++ = '\0';
		if (!strcmp(argv[n], "out"))
			out = fopen(value, "w");
		for (int end = 0; end < ENDS; end++)
			if (!strcmp(argv[n], names[end]))
				ends[end] = strtoull(value, NULL, 16);
	}
	data_seen = calloc(UINT64_C(1) << BITS, sizeof(*data_seen));
	code_seen = calloc(UINT64_C(1) << BITS, sizeof(*code_seen));
	if (!out || !data_seen || !code_seen || !ends[FORK] || !ends[EXEC] || !ends[EXIT])
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
