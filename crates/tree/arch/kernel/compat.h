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

/* A new task joins its group in a step of its own, which can fail from 6.12 on. */
#if SC_SINCE(6, 12)
#define sc_joins_group(task, args)	sched_cgroup_fork(task, args)
#define sc_after_fork(task, args)	sched_post_fork(task)
#elif SC_SINCE(5, 17)
#define sc_joins_group(task, args)	(sched_cgroup_fork(task, args), 0)
#define sc_after_fork(task, args)	sched_post_fork(task)
#else
#define sc_joins_group(task, args)	0
#define sc_after_fork(task, args)	sched_post_fork(task, args)
#endif

/* What a task leaves its group by has other names. */
#if SC_SINCE(6, 19)
#define cgroup_exit(task)	cgroup_task_exit(task)
#define cgroup_release(task)	cgroup_task_release(task)
#define cgroup_free(task)	cgroup_task_free(task)
#endif

/* Threads of a process know each other by a list of their own. */
#if SC_SINCE(6, 7)
#define sc_init_threads(task)	do { } while (0)
#else
#define sc_init_threads(task)	INIT_LIST_HEAD(&(task)->thread_group)
#endif

/* Who locks a task's handlers of signals. */
#if SC_SINCE(6, 19)
#define sc_lock_task_sighand	lock_task_sighand
#else
#define sc_lock_task_sighand	__lock_task_sighand
#endif

/* Core scheduling is there. */
#if !SC_SINCE(5, 14)
#define sched_core_fork(task)	do { } while (0)
#define sched_core_free(task)	do { } while (0)
#endif

/* A descriptor's file comes as a word. */
#define SC_FD_IS_A_WORD		SC_SINCE(6, 13)

/* A kernel thread has its data from its creation on. */
#define SC_KTHREAD_DATA		SC_SINCE(5, 17)

/* A task remembers the affinity that somebody asked for. */
#if SC_SINCE(5, 15)
#define sc_forget_asked_cpus(task)	((task)->user_cpus_ptr = NULL)
#else
#define sc_forget_asked_cpus(task)	do { } while (0)
#endif

#if !SC_SINCE(5, 18)
#define task_work_pending(task)		((task)->task_works != NULL)
#endif

/* A task's state has a name that asks for care. */
#if !SC_SINCE(5, 14)
#define __state			state
#endif

/* The distance up to which nodes balance is memory management's, before that the scheduler's own. */
#define SC_HAS_RECLAIM_DISTANCE	SC_SINCE(5, 16)

/* Tasks count in their address space where they run. */
#if !SC_SINCE(6, 3)
#define sched_mm_cid_exit_signals(task)	do { } while (0)
#elif SC_SINCE(6, 19)
#define sched_mm_cid_exit_signals(task)	sched_mm_cid_exit(task)
#endif

/* kfree_rcu() hands over the memory, not a callback that is an offset. */
#define SC_FREES_MEMORY		SC_SINCE(6, 2)

/* A CPU that is dead says so by the hotplug core's own way. */
#define SC_REPORTS_DEATH	SC_SINCE(6, 5)

/* The tracepoint of switches tells the state of the task that ran. */
#if SC_SINCE(5, 18)
#define SC_PREVIOUS_STATE	, unsigned int state
#else
#define SC_PREVIOUS_STATE
#endif

/* Kinds of imbalance are counted apart. */
#define SC_KINDS_OF_IMBALANCE	SC_SINCE(6, 14)

/* A CPU that is not idle has a name of its own as a balancer. */
#if SC_SINCE(6, 10)
#define SC_CPU_NOT_IDLE		__CPU_NOT_IDLE
#else
#define SC_CPU_NOT_IDLE		CPU_NOT_IDLE
#endif

/* Where a task has its statistics. */
#if SC_SINCE(5, 16)
#define SC_TASK_STATISTICS	stats
#else
#define SC_TASK_STATISTICS	se.statistics
#endif

/* The estimate of a queue's utilisation is one number. */
#if SC_SINCE(6, 8)
#define SC_UTIL_EST		util_est
#else
#define SC_UTIL_EST		util_est.enqueued
#endif

/* What governors take for the utilisation of the fair class. */
#if SC_SINCE(6, 5)
#define sc_governors_util(cpu)	cpu_util_cfs_boost(cpu)
#elif SC_SINCE(5, 16)
#define sc_governors_util(cpu)	cpu_util_cfs(cpu)
#else
#define sc_governors_util(cpu)	cpu_util_cfs(cpu_rq(cpu))
#endif

/* A table of P-states has some that are less efficient than faster ones. */
#if SC_SINCE(5, 16)
#define sc_find_state(policy, khz)	cpufreq_table_find_index_dl(policy, khz, false)
#else
#define sc_find_state(policy, khz)	cpufreq_table_find_index_dl(policy, khz)
#endif

/* A cpufreq driver cannot refuse to leave a policy. */
#if SC_SINCE(6, 11)
#define SC_LEAVES	void
#define SC_LEFT		return
#else
#define SC_LEAVES	int
#define SC_LEFT		return 0
#endif

/* What a namespace of sysfs is, and lists of groups. */
#if SC_SINCE(7, 1)
#define SC_NAMESPACE	const struct ns_common *
#define SC_GROUPS	const struct attribute_group *const *
#else
#define SC_NAMESPACE	const void *
#define SC_GROUPS	const struct attribute_group **
#endif

/* The bus of CPUs is constant. */
#if SC_SINCE(6, 8)
#define SC_BUS		const struct bus_type
#else
#define SC_BUS		struct bus_type
#endif

/* A bus keeps its root device to itself. */
#define SC_HIDES_ROOT		SC_SINCE(6, 4)

/* kmalloc() of a size that the compiler knows asks a cache for memory, and tells nothing of the size. */
#define SC_SIZE_BY_CACHE	!SC_SINCE(6, 1)

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

/* A level's mask is asked for with the level. */
#if SC_SINCE(6, 18)
#define SC_MASK_OF(cpu)		struct sched_domain_topology_level *level, int cpu
#else
#define SC_MASK_OF(cpu)		int cpu
#endif

/* Files of debugfs have two kinds of operations, and data of a second kind. */
#define SC_SHORT_OPERATIONS	SC_SINCE(6, 13)

/* Large allocations say how they are aligned. */
#if SC_SINCE(6, 18)
#define SC_ALIGN(align)		unsigned long align,
#else
#define SC_ALIGN(align)
#endif

/* What kfree_rcu() has in an object. */
#if SC_SINCE(7, 3)
#define sc_free_head		kvfree_rcu_head
#else
#define sc_free_head		rcu_head
#endif

/* The boot of timers has a new name. */
#if SC_SINCE(6, 16)
#define init_timers		timers_init
#endif

/* The switch that makes the scheduler tell its domains. */
#if !SC_SINCE(5, 13)
#define sched_debug_verbose	sched_debug_enabled
#endif

/* The scheduler's switches are a file of the root of debugfs. */
#if !SC_SINCE(5, 13)
#define sc_file(path)		(strcmp(path, "sched/features") ? path : "sched_features")
#else
#define sc_file(path)		(path)
#endif

/* Each tick adds its time to what random numbers are drawn from. */
#define SC_TICKS_ADD_NOISE	!SC_SINCE(5, 19)

/* Numbers of debugfs are files that nobody asks back for. */
#if SC_SINCE(5, 11)
#define SC_NUMBER_FILE		void
#define SC_NUMBER_ADDED(entry)	(void)(entry)
#else
#define SC_NUMBER_FILE		struct dentry *
#define SC_NUMBER_ADDED(entry)	return entry
#endif

/* finish_rcuwait() is a function. */
#define SC_FINISHES_RCUWAIT	SC_SINCE(5, 16)

/* nr_cpu_ids may be a constant. */
#if !SC_SINCE(6, 1)
#define set_nr_cpu_ids(n)	(nr_cpu_ids = (n))
#endif

/* Work queues follow the topology after SMP is up. */
#if !SC_SINCE(6, 5)
#define workqueue_init_topology()	do { } while (0)
#endif

/* Why the fair class is asked for a CPU: by flags of domains and of the wake-up, or by the latter alone. */
#if SC_SINCE(5, 11)
#define sc_why(flags, unused)	\
	((flags) & WF_FORK ? SC_IS_NEW : (flags) & WF_EXEC ? SC_EXECS : (flags) & WF_SYNC ? SC_WAKES_SYNC : SC_WAKES)
#else
#define sc_why(domains, flags)	\
	((domains) & SD_BALANCE_FORK ? SC_IS_NEW : (domains) & SD_BALANCE_EXEC ? SC_EXECS : (flags) & WF_SYNC ? SC_WAKES_SYNC : SC_WAKES)
#endif

/* Tables of sysctls are told with their size. */
#define SC_SYSCTL_SIZED		SC_SINCE(6, 6)

/* Such tables are constant. */
#if SC_SINCE(6, 13)
#define SC_CONST_TABLE		const
#else
#define SC_CONST_TABLE
#endif

/* Tables have tables below them, and that of all sysctls has the scheduler's. */
#define SC_SYSCTL_TREES		!SC_SINCE(5, 19)
#if SC_SINCE(5, 17)
#define sysctl_init		sysctl_init_bases
#endif

#if !SC_SINCE(6, 12)
#define __seq_puts		seq_puts
#endif

#endif
