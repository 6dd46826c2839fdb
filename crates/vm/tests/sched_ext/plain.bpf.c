/* SPDX-License-Identifier: GPL-2.0-only
 *
 * The smallest scheduler of the class sched_ext: every decision is the kernel's default, one queue for all CPUs.
 */
#include "ops.h"

SEC(".struct_ops.link")
struct sched_ext_ops plain_ops = {
	.name = "plain",
};
