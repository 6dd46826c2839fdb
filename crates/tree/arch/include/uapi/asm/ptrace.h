/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_ASM_PTRACE_H
#define _UAPI_ASM_PTRACE_H
#ifndef __ASSEMBLY__
struct pt_regs {
	unsigned long pc, sp, user;
};
typedef struct pt_regs user_pt_regs;
#endif
#endif
