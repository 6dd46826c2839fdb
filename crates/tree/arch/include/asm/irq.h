/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_IRQ_H
#define _ASM_IRQ_H
#include <asm-generic/irq.h>
#endif
