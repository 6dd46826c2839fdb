/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_THREAD_INFO_H
#define _ASM_THREAD_INFO_H
#include <asm/page.h>
/* Larger than the kernel's own stacks: a host's functions run on it, too, and those that write a backtrace need some. */
#define THREAD_SIZE_ORDER	4
#define THREAD_SIZE		(PAGE_SIZE << THREAD_SIZE_ORDER)
#ifndef __ASSEMBLY__
struct thread_info {
	unsigned long flags;
	unsigned long syscall_work;
	int preempt_count;
	u32 cpu;
};
#define INIT_THREAD_INFO(task)	{ .preempt_count = INIT_PREEMPT_COUNT }
#endif

#define TIF_SYSCALL_TRACE	0
#define TIF_NOTIFY_RESUME	1
#define TIF_SIGPENDING		2
#define TIF_NEED_RESCHED	3
#define TIF_SINGLESTEP		4
#define TIF_NOTIFY_SIGNAL	5
#define TIF_NEED_RESCHED_LAZY	6
#define TIF_POLLING_NRFLAG	7
#define TIF_UPROBE		8
#define TIF_PATCH_PENDING	9
#define TIF_MEMDIE		17
#define TIF_RESTORE_SIGMASK	18
#define TIF_SYSCALL_AUDIT	19
#define TIF_SYSCALL_TRACEPOINT	20
#define TIF_SECCOMP		21
#define _TIF_SYSCALL_TRACE	(1 << TIF_SYSCALL_TRACE)
#define _TIF_NOTIFY_RESUME	(1 << TIF_NOTIFY_RESUME)
#define _TIF_SIGPENDING		(1 << TIF_SIGPENDING)
#define _TIF_NEED_RESCHED	(1 << TIF_NEED_RESCHED)
#define _TIF_NEED_RESCHED_LAZY	(1 << TIF_NEED_RESCHED_LAZY)
#define _TIF_NOTIFY_SIGNAL	(1 << TIF_NOTIFY_SIGNAL)
#define _TIF_POLLING_NRFLAG	(1 << TIF_POLLING_NRFLAG)
#define _TIF_UPROBE		(1 << TIF_UPROBE)
#define _TIF_PATCH_PENDING	(1 << TIF_PATCH_PENDING)
#endif
