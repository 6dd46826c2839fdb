// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's clock and each CPU's timer. The kernel's own timekeeping, timers and ticks go by them.
 */
#include <linux/clockchips.h>
#include <linux/clocksource.h>
#include <linux/sched/clock.h>
#include "machine.h"

/* What calibration finds on a machine of 2 GHz; only the threshold of CPU-intensive work goes by it. */
unsigned long loops_per_jiffy = 2000000000 / HZ;

/*
 * The scheduler's clock goes on while the kernel looks at CPUs: newly idle balancing and the search for an idle CPU measure
 * themselves by it. It never goes back on a CPU, though the simulator may let the CPU's next turn begin before that time is over.
 */
unsigned long long sched_clock(void)
{
	struct sc_context *c = &sc_contexts[sc_cpu];
	u64 now_ns = sc_now_ns + sc_looks_ns();

	if (now_ns > c->clock_ns)
		c->clock_ns = now_ns;
	return c->clock_ns;
}

static u64 read_now(struct clocksource *source)
{
	return sc_now_ns;
}

/* One count a nanosecond, for longer than any run: mult and shift are such that no rounding occurs. */
static struct clocksource source = {
	.name = "schedscape",
	.rating = 400,
	.read = read_now,
	.mask = CLOCKSOURCE_MASK(62),
	.flags = CLOCK_SOURCE_IS_CONTINUOUS | CLOCK_SOURCE_VALID_FOR_HRES,
	.max_cycles = 1ULL << 62,
	.max_idle_ns = 1ULL << 62,
	.mult = 1 << 20,
	.shift = 20,
};

struct clocksource *clocksource_default_clock(void)
{
	return &source;
}

/* Else the first one that registers, jiffies, would be taken for better. */
static int __init register_source(void)
{
	return __clocksource_register(&source);
}
core_initcall(register_source);

static DEFINE_PER_CPU(struct clock_event_device, timers);

static void program(struct clock_event_device *timer, u64 at_ns)
{
	int cpu = cpumask_first(timer->cpumask);

	sc_contexts[cpu].timer_ns = at_ns;
	sc_host->event(SC_EVENT_TIMER, cpu, at_ns == KTIME_MAX ? -1 : at_ns, 0);
}

static int next_event(unsigned long delta_ns, struct clock_event_device *timer)
{
	program(timer, sc_now_ns + delta_ns);
	return 0;
}

static int stop(struct clock_event_device *timer)
{
	program(timer, KTIME_MAX);
	return 0;
}

static int keep(struct clock_event_device *timer)
{
	return 0;
}

void sc_start_timer(int cpu)
{
	struct clock_event_device *timer = this_cpu_ptr(&timers);

	sc_contexts[cpu].timer_ns = KTIME_MAX;
	*timer = (struct clock_event_device) {
		.name = "schedscape",
		.features = CLOCK_EVT_FEAT_ONESHOT,
		.rating = 400,
		.cpumask = cpumask_of(cpu),
		.irq = -1,
		.set_next_event = next_event,
		.set_state_oneshot = keep,
		.set_state_shutdown = stop,
		.set_state_oneshot_stopped = stop,
	};
	clockevents_config_and_register(timer, NSEC_PER_SEC, 1, LONG_MAX);
}

void sc_timer_interrupt(void)
{
	struct clock_event_device *timer = this_cpu_ptr(&timers);

	sc_contexts[sc_cpu].timer_ns = KTIME_MAX;
	timer->event_handler(timer);
}
