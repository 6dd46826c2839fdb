/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H
#include <uapi/asm/ptrace.h>
#ifndef __ASSEMBLY__
#define user_mode(regs)			((regs)->user)
#define instruction_pointer(regs)	((regs)->pc)
#define user_stack_pointer(regs)	((regs)->sp)
#define kernel_stack_pointer(regs)	((regs)->sp)
#define profile_pc(regs)		instruction_pointer(regs)
#endif
#endif
