// SPDX-License-Identifier: GPL-2.0-only
/* The functions that the simulator calls. */
#include <linux/tick.h>
#include "scheduler.h"
#include "machine.h"

void sc_boot(const struct sc_host *host, const struct sc_machine *machine, int verbose);
void sc_set_now(sc_u64 ns);
void sc_seed(sc_u64 seed);

static sc_s64 current_task(sc_u32 cpu)
{
	return sc_contexts[cpu].curr->pid;
}

static sc_u64 now(void)
{
	return sc_now_ns;
}

static sc_u64 tick(void)
{
	return TICK_NSEC;
}

static sc_u64 timer(sc_u32 cpu)
{
	return sc_contexts[cpu].timer_ns;
}

static sc_u32 waits(sc_u32 cpu)
{
	return sc_contexts[cpu].waits;
}

static sc_u32 runnable(sc_u32 cpu)
{
	return cpu_rq(cpu)->nr_running;
}

static void idle(sc_u32 cpu, struct sc_idle *idle)
{
	idle->state = sc_contexts[cpu].idle_state;
	idle->until_ns = sc_contexts[cpu].idle_until_ns;
#ifdef CONFIG_NO_HZ_COMMON
	idle->calls = tick_nohz_get_idle_calls_cpu(cpu);
#endif
}

__attribute__((visibility("default"))) const struct sc_api sc_api = {
	.version = SC_ABI_VERSION,
	.release = SC_RELEASE,
	.boot = sc_boot,
	.set_now = sc_set_now,
	.now = now,
	.tick = tick,
	.turn = sc_turn,
	.wake_later = sc_wake_later,
	.spawn = sc_spawn,
	.timer = timer,
	.waits = waits,
	.current_task = current_task,
	.nr_running = runnable,
	.idle = idle,
	.count = sc_count,
	.watch_util = sc_watch_util,
	.util = sc_util,
	.set_frequency = sc_set_frequency,
	.seed = sc_seed,
	.debugfs_write = sc_debugfs_write,
	.debugfs_read = sc_debugfs_read,
	.online = sc_online,
	.switch_later = sc_switch_later,
	.clamps = sc_clamps_of,
	.watch = sc_watch,
	.queue_state = sc_queue_state,
	.task_state = sc_task_state,
	.sums = sc_sums,
	.sysctl_write = sc_sysctl_write,
	.sysctls = sc_sysctls,
	.govern = sc_clocks_govern,
	.requested = sc_requested,
	.sysfs_write = sc_sysfs_write,
	.sysfs_read = sc_sysfs_read,
	.group_make = sc_group_make,
	.group_write = sc_group_write,
	.group_stat = sc_group_stat,
	.group_join = sc_group_join,
	.group_lead = sc_group_lead,
	.pressure = sc_pressure,
};
