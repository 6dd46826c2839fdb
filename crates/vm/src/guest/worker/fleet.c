/* The parts of the program that has what fleets run. */
#include "fleet.h"

#include <stddef.h>

const struct part parts[] = {
	{ "service", service },
	{ "oltp", oltp },
	{ "parallel", parallel },
	{ "stream", free_stream },
	{ "copies", copies },
	{ "copy", copy },
	{ "pipeline", pipeline },
	{ "build", build },
	{ "job", job },
	{ "tool", tool },
	{ "noisy", noisy },
	{ NULL, NULL },
};
