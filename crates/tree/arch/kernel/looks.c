// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time that it takes to look at other CPUs.
 *
 * A search for an idle CPU and a balancer go through the run queues of many CPUs, and each is lines that another CPU has written. The
 * kernel reaches them through per_cpu_offset(), which counts (asm/percpu.h). The simulator says what a look costs, and the
 * scheduler's clock advances by it within a turn. Searches of wake-ups and everything else are counted apart: their costs differ.
 */
#include <linux/preempt.h>
#include "machine.h"

int sc_looked_at = -1;
unsigned int sc_looks;
bool sc_searching;

static unsigned int counted, scans, balances;
static u32 scan_cost, balance_cost;

static u64 looked_ns;

/* Takes what was looked at since for what the CPU does now. */
static void count(void)
{
	unsigned int new = sc_looks - counted;

	counted = sc_looks;
	if (sc_searching && !in_serving_softirq())
		scans += new;
	else
		balances += new;
	looked_ns = ((u64)scans * scan_cost + (u64)balances * balance_cost) >> SC_COST_SHIFT;
}

u64 sc_looks_ns(void)
{
	if (sc_looks != counted)
		count();
	return looked_ns;
}

void sc_looks_begin(struct sc_turn *turn)
{
	scan_cost = turn->scan_cost;
	balance_cost = turn->balance_cost;
	scans = balances = 0;
	looked_ns = 0;
	counted = sc_looks;
	sc_looked_at = turn->cpu;
	sc_searching = false;
}

void sc_looks_end(struct sc_turn *turn)
{
	count();
	turn->scans = scans;
	turn->balances = balances;
}
