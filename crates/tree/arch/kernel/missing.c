// SPDX-License-Identifier: GPL-2.0-only
/* Devices, for hotplug and cpufreq: a CPU's device is its number, and what is done to it is done to the CPU. */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/once.h>
#include <linux/pid.h>
#include <linux/rcuwait.h>
#include <linux/sysctl.h>
#include "machine.h"

static struct device devices[NR_CPUS];

/* The folder of CPUs: it has no name, as paths of sysfs begin there (sysfs.c). */
static struct device root = { .kobj.state_initialized = 1, .kobj.kref = KREF_INIT(1) };

#if SC_HIDES_ROOT
SC_BUS cpu_subsys = { .name = "cpu", .dev_name = "cpu" };

struct device *bus_get_dev_root(const struct bus_type *bus)
{
	return bus == &cpu_subsys ? &root : NULL;
}
#else
SC_BUS cpu_subsys = { .name = "cpu", .dev_name = "cpu", .dev_root = &root };
#endif

/* All CPUs are there when somebody asks for their devices. */
int subsys_interface_register(struct subsys_interface *interface)
{
	int cpu, failed;

	for_each_possible_cpu(cpu) {
		failed = interface->add_dev(get_cpu_device(cpu), interface);
		if (failed)
			return failed;
	}
	return 0;
}

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
