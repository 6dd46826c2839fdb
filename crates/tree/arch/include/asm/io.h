/* SPDX-License-Identifier: GPL-2.0-only */
/* No device has registers. */
#ifndef _ASM_IO_H
#define _ASM_IO_H
#include <linux/types.h>
#define ioremap ioremap
#define iounmap iounmap
static inline void __iomem *ioremap(phys_addr_t address, size_t size) { return NULL; }
static inline void iounmap(volatile void __iomem *address) { }
#include <asm-generic/io.h>
#endif
