// SPDX-License-Identifier: GPL-2.0-only
/* Devices, for hotplug: a CPU's device is its number, and what is done to it is done to the CPU. */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/once.h>
#include <linux/pid.h>
#include <linux/rcuwait.h>
#include <linux/sysctl.h>
#include "machine.h"

static struct device devices[NR_CPUS];

struct device *get_cpu_device(unsigned int cpu)
{
	devices[cpu].id = cpu;
	return &devices[cpu];
}

int device_online(struct device *device)
{
	return cpu_device_up(device);
}

int device_offline(struct device *device)
{
	return cpu_device_down(device);
}

/* exit.c */
int rcuwait_wake_up(struct rcuwait *wait)
{
	struct task_struct *task = rcu_dereference_raw(wait->task);

	return task ? wake_up_process(task) : 0;
}

#if SC_FINISHES_RCUWAIT
void finish_rcuwait(struct rcuwait *wait)
{
	rcu_assign_pointer(wait->task, NULL);
	__set_current_state(TASK_RUNNING);
}
#endif

/* exec.c, pid.c */
void __set_task_comm(struct task_struct *task, const char *name, bool exec)
{
	strscpy_pad(task->comm, name, sizeof(task->comm));
}

pid_t __task_pid_nr_ns(struct task_struct *task, enum pid_type type, struct pid_namespace *ns)
{
	return task->pid;
}

/* once.c, without its work queue that would patch the branch away. */
bool __do_once_start(bool *done, unsigned long *flags)
{
	return !*done;
}

void __do_once_done(bool *done, struct static_key_true *once_key, unsigned long *flags, struct module *module)
{
	*done = true;
}
