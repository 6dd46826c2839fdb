/* SPDX-License-Identifier: GPL-2.0-only */
/* User memory is the host's, too. */
#ifndef _ASM_UACCESS_H
#define _ASM_UACCESS_H
#include <linux/string.h>
static inline unsigned long raw_copy_from_user(void *to, const void __user *from, unsigned long size)
{
	memcpy(to, (const void *)from, size);
	return 0;
}
static inline unsigned long raw_copy_to_user(void __user *to, const void *from, unsigned long size)
{
	memcpy((void *)to, from, size);
	return 0;
}
#define INLINE_COPY_FROM_USER
#define INLINE_COPY_TO_USER
#include <asm-generic/uaccess.h>
#endif
