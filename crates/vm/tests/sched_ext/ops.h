/* SPDX-License-Identifier: GPL-2.0-only
 *
 * What our schedulers take of the kernel's struct sched_ext_ops. libbpf finds members by name, so a part of it will do, and no
 * vmlinux.h is needed.
 */
#ifndef OPS_H
#define OPS_H

#define SEC(name) __attribute__((section(name), used))

struct task_struct;

struct sched_ext_ops {
	void (*enqueue)(struct task_struct *p, unsigned long long enq_flags);
	unsigned int timeout_ms;
	char name[128];
};

char _license[] SEC("license") = "GPL";

#endif
