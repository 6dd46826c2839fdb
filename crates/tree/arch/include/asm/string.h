/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's C library does these fast. */
#ifndef _ASM_STRING_H
#define _ASM_STRING_H
#pragma GCC visibility push(default)
#define __HAVE_ARCH_MEMCPY
#define __HAVE_ARCH_MEMSET
#define __HAVE_ARCH_MEMMOVE
#define __HAVE_ARCH_MEMCMP
#define __HAVE_ARCH_STRLEN
extern void *memcpy(void *to, const void *from, size_t size);
extern void *memset(void *to, int byte, size_t size);
extern void *memmove(void *to, const void *from, size_t size);
extern int memcmp(const void *a, const void *b, size_t size);
extern size_t strlen(const char *text);
#pragma GCC visibility pop
#endif
