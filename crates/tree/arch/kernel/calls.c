// SPDX-License-Identifier: GPL-2.0-only
/* The functions that the simulator calls. */
#include <linux/cpu.h>
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
}

struct hotplug {
	sc_u32 cpu;
	int online;
};

static int switch_cpu(void *arg)
{
	struct hotplug *to = arg;

	return to->online ? add_cpu(to->cpu) : remove_cpu(to->cpu);
}

static sc_s64 online(sc_u32 cpu, int online)
{
	struct hotplug to = { cpu, online };

	sc_count_all();
	return sc_ask(switch_cpu, &to);
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
	.online = online,
};
