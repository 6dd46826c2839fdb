// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers that are the same in every run: the kernel's users of them want any, not unforeseeable ones. */
#include <linux/random.h>
#include "machine.h"

#if SC_TICKS_ADD_NOISE
DEFINE_PER_CPU(unsigned long, net_rand_noise);
#endif

static u64 state = 0x9e3779b97f4a7c15ULL;

void sc_seed(sc_u64 seed)
{
	state = seed;
}

/* splitmix64 (Steele, Lea and Flood, 2014). */
static u64 next(void)
{
	u64 z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

u32 get_random_u32(void)
{
	return next() >> 32;
}

u64 get_random_u64(void)
{
	return next();
}

u32 __get_random_u32_below(u32 ceiling)
{
	return ((next() >> 32) * ceiling) >> 32;
}

void get_random_bytes(void *to, size_t size)
{
	u8 *byte = to;

	while (size--)
		*byte++ = next();
}
