/*
 * Marks for who watches the guest: instructions that do nothing and that no compiler makes. Elsewhere they cost what a no-op costs.
 * 0 to 15 begin a section on the CPU; MARK_WATCH asks to be watched; MARK_SNAPSHOT and up ask for what was counted so far.
 */
#ifndef MARKS_H
#define MARKS_H

#define MARK_WATCH 0x10
#define MARK_SNAPSHOT 0x20

#if defined(__x86_64__)
/* nopl with an odd displacement */
#define MARK(number) __asm__ volatile(".byte 0x0f, 0x1f, 0x80, %c0, 0x00, 0xed, 0x5c" ::"i"(number) : "memory")
#elif defined(__aarch64__)
/* a move to the register that is always zero */
#define MARK(number) __asm__ volatile("movz xzr, %0" ::"i"(0x5c00 | (number)) : "memory")
#elif defined(__powerpc64__)
/* a trap under no condition */
#define MARK(number) __asm__ volatile("twi 0, 0, %0" ::"i"(0x5c00 | (number)) : "memory")
#else
#error "no marks for this architecture"
#endif

#endif
