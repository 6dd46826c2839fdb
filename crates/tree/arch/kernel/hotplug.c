// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that go offline and come online: what the kernel asks of an architecture, and who writes to their files in sysfs.
 *
 * Between runs all of it happens within one call. During a run the simulator has the turns: the servant's system call takes the time
 * that threads, interrupts and grace periods take, and the simulator hears when it is over.
 */
#include <linux/cpu.h>
#include <linux/sched/hotplug.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include "machine.h"

struct change {
	sc_u32 cpu;
	int online;
};

static int switch_cpu(void *arg)
{
	struct change *to = arg;

	return to->online ? add_cpu(to->cpu) : remove_cpu(to->cpu);
}

sc_s64 sc_online(sc_u32 cpu, int online)
{
	struct change to = { cpu, online };

	return sc_ask(switch_cpu, &to);
}

static int switch_and_tell(void *arg)
{
	struct change *to = arg;
	int answer = switch_cpu(to);

	sc_host->event(SC_EVENT_SWITCHED, to->cpu, answer, 0);
	return answer;
}

void sc_switch_later(sc_u32 cpu, int online)
{
	static struct change to;

	to = (struct change) { cpu, online };
	sc_ask_later(switch_and_tell, &to);
}

/* Tasks that a device's interrupt was about to wake here are woken by the first CPU. */
static void hand_over_wakeups(void)
{
	struct sc_context *c = &sc_contexts[sc_cpu];
	int to = cpumask_first(cpu_online_mask);

	if (!c->woken)
		return;
	while (c->woken) {
		struct task_struct *task = c->woken;

		c->woken = task->thread.next_woken;
		sc_wake_later(to, task->pid);
	}
	sc_send(to, SC_IRQ_WAKE);
}

/*
 * Releases up to 5.10 push tasks when their CPU counts as offline, and there tracepoints are silent. So the queue is noted before, and
 * told afterwards; later ones have emptied it by then.
 */
static pid_t *leaving;
static int nr_leaving;

static void note_queue(void)
{
	pid_t pid, last = sc_last_pid();

	leaving = sc_host->alloc((last + 1) * sizeof(*leaving), 64);
	nr_leaving = 0;
	for (pid = 1; pid <= last; pid++) {
		struct task_struct *task = sc_task(pid);

		if (task && task->on_rq && task_cpu(task) == sc_cpu)
			leaving[nr_leaving++] = pid;
	}
}

static void tell_pushed(void)
{
	int i;

	for (i = 0; i < nr_leaving; i++) {
		struct task_struct *task = sc_task(leaving[i]);

		if (task && task_cpu(task) != sc_cpu)
			sc_host->event(SC_EVENT_PUSH, sc_cpu, task->pid, task_cpu(task));
	}
	sc_host->free(leaving);
}

/* The end of a CPU that went offline: it is entered again only by __cpu_up(). */
void __noreturn arch_cpu_idle_dead(void)
{
	idle_task_exit();
	tell_pushed();
	hand_over_wakeups();
#if SC_REPORTS_DEATH
	cpuhp_ap_report_dead();
#else
	(void)cpu_report_death();
#endif
	sc_wait(SC_OFF);
	panic("CPU %d goes on after its end", sc_cpu);
}

int __cpu_disable(void)
{
	note_queue();
	set_cpu_online(sc_cpu, false);
	sc_topology_shows(sc_cpu, false);
	return 0;
}

void __cpu_die(unsigned int cpu)
{
	while (sc_contexts[cpu].waits != SC_OFF)
		cpu_relax();
}

/* Where a CPU that is switched on begins. */
static int secondary(void *unused)
{
	int cpu = sc_cpu;

	/* As each architecture does: in 7.3, finish_cpu() leaves an idle task without one. */
	mmgrab(&init_mm);
	current->active_mm = &init_mm;
	sc_topology_shows(cpu, true);
	sc_start_timer(cpu);
	notify_cpu_starting(cpu);
	set_cpu_online(cpu, true);
	local_irq_enable();
	cpu_startup_entry(CPUHP_AP_ONLINE_IDLE);
	return 0;
}

int __cpu_up(unsigned int cpu, struct task_struct *idle)
{
	struct sc_context *c = &sc_contexts[cpu];

	idle->thread.start = secondary;
	idle->thread.sp = sc_first_frame(idle->stack, THREAD_SIZE);
	idle->thread_info.cpu = cpu;
	*c = (struct sc_context) { .curr = idle, .waits = SC_SPINS, .timer_ns = KTIME_MAX };
	sc_send(cpu, SC_IRQ_START);
	while (!cpu_online(cpu))
		cpu_relax();
	return 0;
}
