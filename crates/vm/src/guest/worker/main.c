/*
 * What guests run where no package has the program: `PROGRAM PART NAME=VALUE...`. Each part prints lines `NAME VALUE`.
 * Errors go to the standard error, with exit code 1.
 */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct arguments all = { .count = argc - 2, .text = argv + 2 };
	char names[256] = "";
	size_t length = 0;

	if (argc < 2)
		die(0, "found nothing, expected a part and its arguments");
	for (const struct part *part = parts; part->name; part++) {
		if (strcmp(part->name, argv[1]))
			continue;
		part->run(&all);
		if (fflush(stdout))
			die(errno, "output");
		return 0;
	}
	for (const struct part *part = parts; part->name; part++)
		length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "", part->name);
	die(0, "found %s, expected one of %s", argv[1], names);
}
