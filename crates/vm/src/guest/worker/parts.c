/* The parts of the worker. */
#include "worker.h"

#include <stddef.h>

const struct part parts[] = {
	{ "ebizzy", ebizzy },
	{ "false_sharing", false_sharing },
	{ "stream", stream },
	{ "schbench", schbench },
	{ "netperf", netperf },
	{ "costs", costs },
	{ "costs_exec", costs_exec },
	{ "mark", mark },
	{ "stats", stats },
	{ NULL, NULL },
};
