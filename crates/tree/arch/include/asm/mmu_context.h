/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_MMU_CONTEXT_H
#define _ASM_MMU_CONTEXT_H
#include <linux/version.h>
struct mm_struct;
struct task_struct;
struct vm_area_struct;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
static inline void switch_mm(struct mm_struct *prev, struct mm_struct *next, struct task_struct *task) { }
#endif
#include <asm-generic/mmu_context.h>
#endif
