// SPDX-License-Identifier: GPL-2.0-only
/* A moment to stop at, for a debugger: it has its breakpoint here, which no turn before that moment costs anything. */
#include "machine.h"

struct sc_debug sc_debug = { .stop_ns = ~0ULL };

noinline void sc_reached(struct sc_turn *turn)
{
	asm volatile("" : : "r" (turn) : "memory");
}
