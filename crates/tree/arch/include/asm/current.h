/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CURRENT_H
#define _ASM_CURRENT_H
#ifndef __ASSEMBLY__
struct task_struct;
/* The task of the CPU that executes now. */
extern struct task_struct *sc_current;
#define get_current()	sc_current
#define current		get_current()
#endif
#endif
