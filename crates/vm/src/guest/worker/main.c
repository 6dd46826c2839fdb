/*
 * What guests run where no package has the program: `worker PART NAME=VALUE...`. Each part prints lines `NAME VALUE`.
 * Errors go to the standard error, with exit code 1.
 */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	void (*run)(struct arguments *all);
} parts[] = {
	{ "ebizzy", ebizzy },
	{ "false_sharing", false_sharing },
	{ "stream", stream },
	{ "schbench", schbench },
	{ "netperf", netperf },
	{ "costs", costs },
	{ "costs_exec", costs_exec },
	{ "mark", mark },
	{ "stats", stats },
};

int main(int argc, char **argv)
{
	struct arguments all = { .count = argc - 2, .text = argv + 2 };

	if (argc < 2)
		die(0, "found nothing, expected a part and its arguments");
	for (size_t nth = 0; nth < sizeof(parts) / sizeof(parts[0]); nth++) {
		if (strcmp(parts[nth].name, argv[1]))
			continue;
		parts[nth].run(&all);
		if (fflush(stdout))
			die(errno, "output");
		return 0;
	}
	die(0, "found %s, expected ebizzy, false_sharing, stream, schbench, netperf, costs, mark or stats", argv[1]);
}
