/* SPDX-License-Identifier: GPL-2.0-only
 *
 * A scheduler that the kernel throws out: a task that does not find an idle CPU is taken and never runs. The kernel's watchdog notices.
 */
#include "ops.h"

SEC("struct_ops/stall_enqueue")
void stall_enqueue(unsigned long long *ctx)
{
}

SEC(".struct_ops.link")
struct sched_ext_ops stall_ops = {
	.enqueue = (void *)stall_enqueue,
	.timeout_ms = 2000,
	.name = "stall",
};
