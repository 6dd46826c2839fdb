/* SPDX-License-Identifier: GPL-2.0-only */
/* The scheduler's own header, behind those that it expects its users to have. */
#ifndef SC_SCHEDULER_H
#define SC_SCHEDULER_H

#include <linux/sched.h>
#include <linux/mmu_context.h>
#include <linux/sched/cputime.h>
#include <linux/sched/topology.h>
#include "sched.h"

#endif
