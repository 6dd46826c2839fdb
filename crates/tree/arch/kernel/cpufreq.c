// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's P-states, as a driver of the kernel's own cpufreq. Core, governors and their files in sysfs are the kernel's; what the
 * hardware makes of a request, and when, is the simulator's.
 *
 * A CPU has a register with the P-state that it asks for, which it writes itself, as with model-specific registers of x86. What the
 * driver tells the core, and which entry it takes, is as acpi-cpufreq does it.
 */
#include <linux/cpufreq.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "machine.h"

/* arch_scale_freq_invariant(). */
bool sc_freq_invariant = true;

static const struct sc_clocks *clocks;
static struct cpufreq_frequency_table *states;
static u32 *registers;

static const sc_u64 *policy_mask(u32 policy)
{
	return clocks->policy_cpus + policy * ((sc_machine->cpus + 63) / 64);
}

/* The CPUs that the firmware names together with `cpu`; others have a policy of their own. */
static void find_cpus(int cpu, struct cpumask *cpus)
{
	u32 policy;

	for (policy = 0; policy < clocks->policies; policy++) {
		if (policy_mask(policy)[cpu / 64] >> (cpu % 64) & 1) {
			sc_copy_mask(cpus, policy_mask(policy));
			return;
		}
	}
	cpumask_copy(cpus, cpumask_of(cpu));
}

struct request {
	u32 khz;
	int first;
};

static void write_register(void *arg)
{
	struct request *request = arg;

	registers[sc_cpu] = request->khz;
	sc_host->event(SC_EVENT_CLOCK, sc_cpu, request->khz, sc_cpu == request->first);
}

/* acpi_cpufreq_target() and drv_write(). */
static int set_state(struct cpufreq_policy *policy, unsigned int index)
{
	struct request request = { policy->freq_table[index].frequency, policy->cpu };
	int here = get_cpu();

	if (cpumask_test_cpu(here, policy->cpus))
		write_register(&request);
	smp_call_function_many(policy->cpus, write_register, &request, true);
	put_cpu();
	return 0;
}

/* acpi_cpufreq_fast_switch(), of a policy of one CPU, which is this one. */
static unsigned int set_state_fast(struct cpufreq_policy *policy, unsigned int target)
{
	struct request request = { .first = policy->cpu };
	unsigned int index;

	if (policy->cached_target_freq == target)
		index = policy->cached_resolved_idx;
	else
		index = sc_find_state(policy, target);
	request.khz = policy->freq_table[index].frequency;
	if (registers[sc_cpu] != request.khz)
		write_register(&request);
	return request.khz;
}

static unsigned int requested(unsigned int cpu)
{
	return registers[cpu];
}

/* acpi_cpufreq_cpu_init(). */
static int init(struct cpufreq_policy *policy)
{
	find_cpus(policy->cpu, policy->cpus);
	if (cpumask_weight(policy->cpus) > 1)
		policy->shared_type = CPUFREQ_SHARED_TYPE_ALL;
	policy->freq_table = states;
	policy->cpuinfo.transition_latency = clocks->latency_ns;
#ifdef SC_HAS_max_boost_ratio
	if (clocks->boost_ratio)
		policy->cpuinfo.max_freq = (u64)states[0].frequency * clocks->boost_ratio >> SCHED_CAPACITY_SHIFT;
#endif
	policy->fast_switch_possible = clocks->fast_switch && !policy_is_shared(policy);
	policy->cur = requested(policy->cpu);
	return 0;
}

static SC_LEAVES leave(struct cpufreq_policy *policy)
{
	policy->fast_switch_possible = false;
	policy->freq_table = NULL;
	SC_LEFT;
}

static struct cpufreq_driver driver = {
	.name = "schedscape",
	.init = init,
	.exit = leave,
	.verify = cpufreq_generic_frequency_table_verify,
	.get = requested,
	.target_index = set_state,
	.fast_switch = set_state_fast,
};

static int register_driver(void *unused)
{
	return cpufreq_register_driver(&driver);
}

/*
 * `from` stays as long as the machine does. All CPUs ask for the lowest state: what they asked for before nobody looked at them says
 * nothing of a machine that has been up.
 */
sc_s64 sc_clocks_govern(const struct sc_clocks *from)
{
	u32 i;

	clocks = from;
	sc_freq_invariant = from->invariant;
	states = kcalloc(from->states + 1, sizeof(*states), GFP_KERNEL);
	for (i = 0; i < from->states; i++)
		states[i] = (struct cpufreq_frequency_table) { .driver_data = i, .frequency = from->khz[i] };
	states[i].frequency = CPUFREQ_TABLE_END;
	registers = kcalloc(sc_machine->cpus, sizeof(*registers), GFP_KERNEL);
	for (i = 0; i < sc_machine->cpus; i++)
		registers[i] = from->khz[from->states - 1];
	return sc_ask(register_driver, NULL);
}

sc_u32 sc_requested(sc_u32 cpu)
{
	return registers ? registers[cpu] : 0;
}
