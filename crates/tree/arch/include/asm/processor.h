/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_PROCESSOR_H
#define _ASM_PROCESSOR_H
#ifndef __ASSEMBLY__
#include <linux/version.h>
#include <asm/page.h>

struct task_struct;
struct pt_regs;

/* Where a task that is not executing goes on: its stack pointer; and what it starts with. */
struct thread_struct {
	void *sp;
	int (*start)(void *);
	void *start_arg;
	/* The next that the same interrupt wakes. */
	struct task_struct *next_woken;
};

#define INIT_THREAD		{ }
#define TASK_SIZE		0x7ffffffff000UL
#define TASK_UNMAPPED_BASE	(TASK_SIZE / 3)
#define STACK_TOP		TASK_SIZE
#define STACK_TOP_MAX		TASK_SIZE

/* A CPU that spins lets the others go on: see sc_relax(). */
extern void sc_relax(void);
#define cpu_relax()		sc_relax()

#define task_pt_regs(task)	((struct pt_regs *)NULL)
#define KSTK_EIP(task)		0UL
#define KSTK_ESP(task)		0UL
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
#define get_wchan(task)		0UL
#endif
static inline unsigned long __get_wchan(struct task_struct *task) { return 0; }
static inline void start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp) { }
#endif
#endif
