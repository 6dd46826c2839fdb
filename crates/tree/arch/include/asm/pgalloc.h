/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_PGALLOC_H
#define _ASM_PGALLOC_H
#include <asm-generic/pgalloc.h>
#endif
