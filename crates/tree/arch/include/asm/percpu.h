/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_PERCPU_H
#define _ASM_PERCPU_H
#ifndef __ASSEMBLY__
extern unsigned long sc_percpu_offset;
#define __my_cpu_offset	sc_percpu_offset
#endif
#include <asm-generic/percpu.h>
#endif
