// SPDX-License-Identifier: GPL-2.0-only
/* Pressure: what /proc/pressure/cpu shows of the machine, and cpu.pressure of a group. */
#include <linux/cgroup.h>
#include <linux/psi.h>
#include <linux/seq_file.h>
#include "machine.h"

#ifdef CONFIG_PSI
/* Its length. The simulator asks at the end of a run, when no CPU executes; it may have stopped one that is about to sum up itself. */
sc_s64 sc_pressure(sc_u32 group, char *text, sc_u64 size)
{
	struct seq_file seq = { .buf = text, .size = size };
	struct psi_group *pressure = group ? cgroup_psi(sc_group(group)) : &psi_system;
	int error;

	if (mutex_is_locked(&pressure->avgs_lock))
		return -EBUSY;
	preempt_disable();
	error = psi_show(&seq, pressure, PSI_CPU);
	preempt_enable_no_resched();
	return error ? error : seq.count;
}
#else
sc_s64 sc_pressure(sc_u32 group, char *text, sc_u64 size)
{
	return -EOPNOTSUPP;
}
#endif
