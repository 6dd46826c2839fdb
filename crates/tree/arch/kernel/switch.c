// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks. Every task has one, and the simulator has its own; a switch saves the registers that a call keeps and goes on elsewhere.
 * Nothing else of the host's CPU is touched: kernel code uses no floating point, and the simulator expects that of a call.
 */
#include "machine.h"

void sc_task_begins(void);

#if defined(SC_HOST_X86_64)
asm(".text\n"
    ".globl sc_switch_stack\n"
    ".hidden sc_switch_stack\n"
    ".type sc_switch_stack, @function\n"
    "sc_switch_stack:\n"
    "	pushq %rbp\n"
    "	pushq %rbx\n"
    "	pushq %r12\n"
    "	pushq %r13\n"
    "	pushq %r14\n"
    "	pushq %r15\n"
    "	movq %rsp, (%rdi)\n"
    "	movq %rsi, %rsp\n"
    "	popq %r15\n"
    "	popq %r14\n"
    "	popq %r13\n"
    "	popq %r12\n"
    "	popq %rbx\n"
    "	popq %rbp\n"
    "	movq %rdx, %rax\n"
    "	ret\n"
    ".size sc_switch_stack, . - sc_switch_stack\n"
    /* A new task: what is handed over becomes the argument; the stack is aligned as at a call. */
    ".globl sc_first_step\n"
    ".hidden sc_first_step\n"
    "sc_first_step:\n"
    "	movq %rax, %rdi\n"
    "	xorl %ebp, %ebp\n"
    "	call sc_task_begins\n"
    "	ud2\n");

void sc_first_step(void);

void *sc_first_frame(void *stack, size_t size)
{
	unsigned long *sp = (void *)(((unsigned long)stack + size) & ~15UL);

	sc_fresh_stack(stack, size);
	*--sp = 0;
	*--sp = 0;
	*--sp = (unsigned long)sc_first_step;
	sp -= 6;
	return sp;
}
#elif defined(SC_HOST_ARM64)
asm(".text\n"
    ".globl sc_switch_stack\n"
    ".hidden sc_switch_stack\n"
    ".type sc_switch_stack, %function\n"
    "sc_switch_stack:\n"
    "	stp x29, x30, [sp, #-96]!\n"
    "	stp x19, x20, [sp, #16]\n"
    "	stp x21, x22, [sp, #32]\n"
    "	stp x23, x24, [sp, #48]\n"
    "	stp x25, x26, [sp, #64]\n"
    "	stp x27, x28, [sp, #80]\n"
    "	mov x9, sp\n"
    "	str x9, [x0]\n"
    "	mov sp, x1\n"
    "	ldp x19, x20, [sp, #16]\n"
    "	ldp x21, x22, [sp, #32]\n"
    "	ldp x23, x24, [sp, #48]\n"
    "	ldp x25, x26, [sp, #64]\n"
    "	ldp x27, x28, [sp, #80]\n"
    "	ldp x29, x30, [sp], #96\n"
    "	mov x0, x2\n"
    "	ret\n"
    ".size sc_switch_stack, . - sc_switch_stack\n"
    ".globl sc_first_step\n"
    ".hidden sc_first_step\n"
    "sc_first_step:\n"
    "	mov x29, xzr\n"
    "	bl sc_task_begins\n"
    "	brk #0\n");

void sc_first_step(void);

void *sc_first_frame(void *stack, size_t size)
{
	unsigned long *sp = (void *)(((unsigned long)stack + size) & ~15UL);

	sc_fresh_stack(stack, size);
	sp -= 12;
	sp[1] = (unsigned long)sc_first_step;
	return sp;
}
#else
#error "hosts are x86-64 and arm64"
#endif
