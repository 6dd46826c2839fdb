/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions that matter: atomic ones, and marks. */
#include "lines.h"

#include <string.h>

/* Any of these stands before the opcode. */
static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
	       byte == 0x26 || byte == 0x64 || byte == 0x65;
}

/* With LOCK, or XCHG with memory, which locks by itself. */
static bool atomic_x86(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && is_prefix(bytes[at]))
		at++;
	if (at < size && bytes[at] == 0xf0)
		return true;
	/* REX */
	if (at < size && (bytes[at] & 0xf0) == 0x40)
		at++;
	return at + 1 < size && (bytes[at] & 0xfe) == 0x86 && bytes[at + 1] >> 6 != 3;
}

/* Arm ARM, "Loads and Stores": exclusives, compare and swap, atomic memory operations. */
static bool atomic_arm(uint32_t word)
{
	bool exclusive = (word & 0x3fa00000) == 0x08000000, pair = (word & 0xbfa00000) == 0x88200000;
	bool cas = (word & 0x3fa07c00) == 0x08a07c00, casp = (word & 0xbfa07c00) == 0x08207c00;
	/* LDAPR has the encoding of such an operation and is a load. */
	bool operation = (word & 0x3f200c00) == 0x38200000 && (word & 0x3ffffc00) != 0x38bfc000;

	return exclusive || pair || cas || casp || operation;
}

/* Power ISA, "Load and Reserve and Store Conditional Instructions", by extended opcode. */
static bool atomic_power(uint32_t word)
{
	if (word >> 26 != 31)
		return false;
	switch (word >> 1 & 0x3ff) {
	case 20: case 52: case 84: case 116: case 276:		/* lwarx lbarx ldarx lharx lqarx */
	case 150: case 182: case 214: case 694: case 726:	/* stwcx. stqcx. stdcx. stbcx. sthcx. */
		return true;
	default:
		return false;
	}
}

static uint32_t word_of(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* CMPXCHG or XCHG. */
static bool swaps_x86(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && (is_prefix(bytes[at]) || bytes[at] == 0xf0))
		at++;
	if (at < size && (bytes[at] & 0xf0) == 0x40)
		at++;
	return at + 1 < size && ((bytes[at] == 0x0f && (bytes[at + 1] & 0xfe) == 0xb0) || (bytes[at] & 0xfe) == 0x86);
}

/* Of atomic instructions. */
bool is_swap(const uint8_t *bytes, size_t size)
{
	switch (options.machine) {
	case X86_64:
		return swaps_x86(bytes, size);
	case AARCH64:
		/* CAS, SWP, exclusives */
		return (word_of(bytes) & 0x3fa07c00) == 0x08a07c00 || (word_of(bytes) & 0x3f20fc00) == 0x38208000 ||
		       (word_of(bytes) & 0x3fa00000) == 0x08000000;
	default:
		return true;
	}
}

bool is_atomic(const uint8_t *bytes, size_t size)
{
	switch (options.machine) {
	case X86_64:
		return atomic_x86(bytes, size);
	case AARCH64:
		return size == 4 && atomic_arm(word_of(bytes));
	default:
		return size == 4 && atomic_power(word_of(bytes));
	}
}

/* Atomic operations are barriers, too, for which nobody has to ask here. */
bool is_barrier(const uint8_t *bytes, size_t size)
{
	static const uint8_t mfence[3] = { 0x0f, 0xae, 0xf0 };

	switch (options.machine) {
	case X86_64:
		return size == 3 && !memcmp(bytes, mfence, 3);
	case AARCH64:
		/* DMB and DSB, but those for loads alone. */
		return size == 4 && ((word_of(bytes) & 0xfffff0ff) == 0xd50330bf || (word_of(bytes) & 0xfffff0ff) == 0xd503309f) &&
		       (word_of(bytes) >> 8 & 3) != 1;
	default:
		/* sync; lwsync lets the CPU go on. */
		return size == 4 && word_of(bytes) == 0x7c0004ac;
	}
}

/* As the guest's marks.h writes them: instructions that do nothing and that no compiler makes. */
int mark_of(const uint8_t *bytes, size_t size)
{
	static const uint8_t nop[3] = { 0x0f, 0x1f, 0x80 };

	switch (options.machine) {
	case X86_64:
		if (size == 7 && !memcmp(bytes, nop, 3) && !bytes[4] && bytes[5] == 0xed && bytes[6] == 0x5c)
			return bytes[3];
		return -1;
	case AARCH64:
		if (size == 4 && (word_of(bytes) & 0xffffe01f) == (0xd280001f | 0x5c00u << 5))
			return (int)(word_of(bytes) >> 5 & 0xff);
		return -1;
	default:
		if (size == 4 && (word_of(bytes) & 0xffffff00) == 0x0c005c00)
			return (int)(word_of(bytes) & 0xff);
		return -1;
	}
}
