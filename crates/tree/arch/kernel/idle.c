// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's idle states, as a driver of the kernel's own cpuidle. Its governor chooses, and with it whether the tick stops; being
 * in a state and leaving it is the simulator's.
 */
#include <linux/cpuidle.h>
#include <linux/init.h>
#include "machine.h"

static struct cpuidle_driver driver = { .name = "schedscape" };

static int enter(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	const struct sc_idle_state *state = &sc_machine->idle_state[index];
	struct sc_context *c = &sc_contexts[sc_cpu];

	c->idle_state = index;
	c->idle_until_ns = KTIME_MAX;
	dev->poll_time_limit = false;
	/* A loop gives up after a while, and the governor chooses again. */
	if (state->poll_ns && state->poll_ns < KTIME_MAX)
		c->idle_until_ns = sc_now_ns + state->poll_ns;
	if (!sc_irqs_waiting)
		sc_wait(SC_IDLE);
	if (state->flagged && !sc_irqs_waiting && !need_resched())
		dev->poll_time_limit = true;
	return index;
}

static int __init register_states(void)
{
	int i;

	if (!sc_machine->idle_states)
		return 0;
	driver.state_count = min_t(int, sc_machine->idle_states, CPUIDLE_STATE_MAX);
	for (i = 0; i < driver.state_count; i++) {
		const struct sc_idle_state *from = &sc_machine->idle_state[i];
		struct cpuidle_state *state = &driver.states[i];

		strscpy(state->name, from->name, sizeof(state->name));
		strscpy(state->desc, from->name, sizeof(state->desc));
		/* In us where the kernel derives ns from them, and in ns. */
		state->exit_latency = DIV_ROUND_UP(from->exit_ns, 1000);
		state->target_residency = DIV_ROUND_UP(from->residency_ns, 1000);
		state->exit_latency_ns = from->exit_ns;
		state->target_residency_ns = from->residency_ns;
		state->flags = from->flagged ? CPUIDLE_FLAG_POLLING : 0;
		state->enter = enter;
	}
	return cpuidle_register(&driver, NULL);
}
device_initcall(register_states);
