// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boot: start_kernel() and kernel_init() of what is here, in their order.
 *
 * Nobody simulates yet. CPUs have their turns one after the other, interrupts arrive at once, and time goes on only where everybody
 * waits for it.
 */
#include <linux/cpu.h>
#include <linux/cpuset.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/radix-tree.h>
#include <linux/sched/clock.h>
#include <linux/sched/init.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>
#include <linux/tick.h>
#include <linux/timekeeper_internal.h>
#include <linux/sched/cputime.h>
#include <linux/workqueue.h>
#include <linux/mmu_context.h>
#include "sched.h"
#include "machine.h"

extern void init_timers(void);
extern void timekeeping_init(void);

const struct sc_host *sc_host;
const struct sc_machine *sc_machine;
enum system_states system_state;
bool static_key_initialized = true;
struct task_struct *sc_servant;

static bool ready;

extern initcall_t sc_initcalls_early[], sc_initcalls[], sc_initcalls_end[];

static void call_all(initcall_t *from, initcall_t *to)
{
	for (; from < to; from++)
		(*from)();
}

/* What the simulator asks for that may sleep, one at a time. */
static int (*request)(void *);
static void *request_arg;
static int request_result;
static bool request_done = true;

static int serve(void *unused)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (request) {
			__set_current_state(TASK_RUNNING);
			request_result = request(request_arg);
			request = NULL;
			request_done = true;
		} else {
			schedule();
		}
	}
	return 0;
}

/* How far time goes on while CPUs spin. */
static u64 spin_step_ns = 1000;

static int work_until(void *until_ns)
{
	while (sc_now_ns < *(u64 *)until_ns)
		cpu_relax();
	return 0;
}

/*
 * Boot leaves no machine as it was switched on: CPUs had more to do than one task, and the others balanced for them. Without that an
 * LLC does not know how many of its CPUs a search may look at (nr_idle_scan), and no search finds anything. So two threads share a
 * CPU for long enough that idle CPUs balance the largest LLC twice.
 */
static void be_busy(void)
{
	u64 until_ns, step_ns = spin_step_ns;
	struct task_struct *other;
	int cpu, weight = 1;

	for_each_online_cpu(cpu)
		weight = max(weight, per_cpu(sd_llc_size, cpu));
	until_ns = sc_now_ns + 2 * weight * NSEC_PER_MSEC + 4 * TICK_NSEC;
	spin_step_ns = TICK_NSEC / 4;
	other = kthread_create(work_until, &until_ns, "boot");
	kthread_bind(other, 0);
	wake_up_process(other);
	set_cpus_allowed_ptr(current, cpumask_of(0));
	work_until(&until_ns);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	/* The other one ends before its word does. */
	schedule_timeout_uninterruptible(2);
	spin_step_ns = step_ns;
}

static int kernel_init(void *unused)
{
	struct task_struct *servant;

	workqueue_init();
	sc_sysctl_setup();
	call_all(sc_initcalls_early, sc_initcalls);
	smp_init();
	sched_init_smp();
	workqueue_init_topology();
	cpuset_init_smp();
	call_all(sc_initcalls, sc_initcalls_end);
	system_state = SYSTEM_RUNNING;
	be_busy();
	servant = kthread_run(serve, NULL, "schedscape");
	sc_servant = servant;
	sc_events_setup();
	sc_counters_setup();
	ready = true;
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	return 0;
}

static int start_kernel_here(void *unused)
{
	int cpu;

	sc_groups_early();
	boot_cpu_init();
	for (cpu = 0; cpu < sc_machine->cpus; cpu++) {
		set_cpu_possible(cpu, true);
		set_cpu_present(cpu, true);
	}
	sc_topology_shows(0, true);
	boot_cpu_hotplug_init();
	sched_init();
	radix_tree_init();
	workqueue_init_early();
	tick_init();
	init_timers();
	hrtimers_init();
	softirq_init();
	timekeeping_init();
	sc_start_timer(0);
	sched_clock_init();
	call_function_init();
	local_irq_enable();
	sc_groups_setup();
	sc_topology_setup();
	kernel_thread(kernel_init, NULL, SC_NAMED("init") 0);
	kthreadd_task = sc_task(kernel_thread(kthreadd, NULL, SC_NAMED("kthreadd") 0));
	system_state = SYSTEM_SCHEDULING;
	schedule_preempt_disabled();
	cpu_startup_entry(CPUHP_ONLINE);
	return 0;
}

static u64 next_timer(void)
{
	u64 at_ns = KTIME_MAX;
	int cpu;

	for (cpu = 0; cpu < sc_machine->cpus; cpu++)
		if (sc_contexts[cpu].waits != SC_OFF && sc_contexts[cpu].timer_ns < at_ns)
			at_ns = sc_contexts[cpu].timer_ns;
	return at_ns;
}

void sc_set_now(sc_u64 ns);

/* What takes longer than this in a machine's time waits for something that does not come. */
#define LONGEST_NS	(60ULL * NSEC_PER_SEC)

/* Gives CPUs their turns until `done`, and until RCU has nothing left that only a timer would do then. */
static void settle(bool *done)
{
	u64 end_ns = sc_now_ns + LONGEST_NS;

	while (!*done || sc_rcu_waits()) {
		bool ran = false, spun = false;
		int cpu;

		for (cpu = 0; cpu < sc_machine->cpus; cpu++) {
			struct sc_context *c = &sc_contexts[cpu];

			if (c->waits == SC_OFF)
				continue;
			if (c->timer_ns <= sc_now_ns)
				sc_raise(cpu, SC_IRQ_TIMER);
			if (c->waits == SC_SPINS)
				spun = true;
			else if (c->irqs_waiting)
				ran = true;
			else
				continue;
			sc_enter(cpu);
		}
		ran |= sc_rcu_run();
		if (ran || (*done && !sc_rcu_waits()))
			continue;
		if (sc_now_ns > end_ns)
			panic("after %llu s of the machine's time what was asked for is not done", LONGEST_NS / NSEC_PER_SEC);
		if (!spun && next_timer() == KTIME_MAX)
			panic("everybody waits, and nothing will come");
		sc_set_now(spun ? sc_now_ns + spin_step_ns : next_timer());
	}
}

/* The next SC_IRQ_DEVICE wakes the servant for it. */
void sc_ask_later(int (*fn)(void *), void *arg)
{
	if (!request_done)
		panic("the simulator asks for more than one thing at a time");
	request = fn;
	request_arg = arg;
	request_done = false;
}

sc_s64 sc_ask(int (*fn)(void *), void *arg)
{
	sc_ask_later(fn, arg);
	sc_booted = false;
	sc_raise(cpumask_first(cpu_online_mask), SC_IRQ_DEVICE);
	settle(&request_done);
	sc_booted = true;
	return request_result;
}

void sc_boot(const struct sc_host *host, const struct sc_machine *machine, int verbose)
{
	sc_host = host;
	sc_machine = machine;
	sc_sanitizers_setup();
	if (machine->cpus > NR_CPUS)
		panic("found %u CPUs, expected at most %d", machine->cpus, NR_CPUS);
	set_nr_cpu_ids(machine->cpus);
	sc_memory_setup();
	sc_masks_setup();
	sched_debug_verbose = verbose;
	init_task.stack = sc_host->pages(THREAD_SIZE);
	init_task.thread.sp = sc_first_frame(init_task.stack, THREAD_SIZE);
	init_task.thread.start = start_kernel_here;
	sc_contexts[0] = (struct sc_context) { .curr = &init_task, .waits = SC_SPINS, .timer_ns = KTIME_MAX };
	settle(&ready);
	sc_booted = true;
}
