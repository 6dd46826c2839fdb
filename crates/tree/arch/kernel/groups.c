// SPDX-License-Identifier: GPL-2.0-only
/* Control groups: the root, in which all tasks begin. */
#include <linux/cgroup.h>
#include <linux/mmu_context.h>
#include "machine.h"
#include "sched.h"

/* Groups are of the second version. */
DEFINE_STATIC_KEY_TRUE(cpu_cgrp_subsys_on_dfl_key);

static struct cgroup root;
static struct css_set root_set;

void sc_groups_setup(void)
{
	root_set.dfl_cgrp = &root;
	root_set.subsys[cpu_cgrp_id] = &root_task_group.css;
	root_task_group.css.cgroup = &root;
}

struct css_set *sc_css_set(int group)
{
	if (!root_set.dfl_cgrp)
		sc_groups_setup();
	return &root_set;
}
