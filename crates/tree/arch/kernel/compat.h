/* SPDX-License-Identifier: GPL-2.0-only */
/* Where releases from 5.10 on differ in what the files of this directory use or define: one place for each difference. */
#ifndef SC_COMPAT_H
#define SC_COMPAT_H

#include <linux/version.h>

#define SC_SINCE(major, minor)	(LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0))

/* arch_cpu_idle() returns with interrupts off. */
#define SC_IDLE_RETURNS_OFF	SC_SINCE(6, 3)

/* The architecture's name for sending a reschedule interrupt. */
#if !SC_SINCE(6, 4)
#define arch_smp_send_reschedule	smp_send_reschedule
#endif

/* kernel_thread() takes a name. */
#if SC_SINCE(6, 4)
#define SC_THREAD_NAME(name)	const char *name,
#define SC_NAMED(name)		name,
#else
#define SC_THREAD_NAME(name)
#define SC_NAMED(name)
#endif

/* sched_cgroup_fork() can refuse. */
#if SC_SINCE(6, 12)
#define sc_cgroup_fork(task, args)	sched_cgroup_fork(task, args)
#else
#define sc_cgroup_fork(task, args)	(sched_cgroup_fork(task, args), 0)
#endif

/* Tasks count in their address space where they run. */
#if !SC_SINCE(6, 3)
#define sched_mm_cid_exit_signals(task)	do { } while (0)
#endif

/* kfree_rcu() hands over the memory, not a callback that is an offset. */
#define SC_FREES_MEMORY		SC_SINCE(6, 2)

/* A CPU that is dead says so by the hotplug core's own way. */
#define SC_REPORTS_DEATH	SC_SINCE(6, 5)

/* Allocators have names for profiling. */
#define SC_PROFILED		SC_SINCE(6, 10)

/* printk() is the function itself. */
#if !SC_SINCE(5, 15)
#undef printk
#define _printk			printk
#define _printk_deferred	printk_deferred
#endif

/* Levels of clusters and of shared LLCs have these flags. */
#if !SC_SINCE(6, 7)
#define SD_CLUSTER		0
#endif
#if !SC_SINCE(6, 8)
#define SD_SHARE_LLC		SD_SHARE_PKG_RESOURCES
#endif

/* nr_cpu_ids may be a constant. */
#if !SC_SINCE(6, 1)
#define set_nr_cpu_ids(n)	(nr_cpu_ids = (n))
#endif

/* Work queues follow the topology after SMP is up. */
#if !SC_SINCE(6, 5)
#define workqueue_init_topology()	do { } while (0)
#endif

#if !SC_SINCE(6, 12)
#define __seq_puts		seq_puts
#endif

#endif
