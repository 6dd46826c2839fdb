/* SPDX-License-Identifier: GPL-2.0-only */
/* No program is ever loaded; generic headers want the types. */
#ifndef _ASM_ELF_H
#define _ASM_ELF_H
#include <asm/ptrace.h>
#include <linux/elf-em.h>
#define ELF_NGREG	18
#define ELF_CLASS	ELFCLASS64
#define ELF_DATA	ELFDATA2LSB
#define ELF_ARCH	EM_NONE
#define ELF_EXEC_PAGESIZE	PAGE_SIZE
#define ELF_ET_DYN_BASE	0
#define ELF_HWCAP	0
#define ELF_PLATFORM	NULL
#define CORE_DUMP_USE_REGSET
#define elf_check_arch(header)	0
#define ELF_PLAT_INIT(regs, load)	do { } while (0)
typedef unsigned long elf_greg_t;
typedef elf_greg_t elf_gregset_t[ELF_NGREG];
typedef unsigned long elf_fpregset_t;
#endif
