/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_DELAY_H
#define _ASM_DELAY_H
extern void sc_delay(unsigned long long ns);
#define udelay(us)	sc_delay((us) * 1000ULL)
#define ndelay(ns)	sc_delay(ns)
#endif
