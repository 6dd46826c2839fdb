/* On which nodes memory lies that a thread, and those that it starts, touch first. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <linux/mempolicy.h>, which not every system has. */
#define BIND 2
#define INTERLEAVE 3
/* Nodes that a mask has, and what the kernel takes for one more. */
#define NODES 64

/* A list of nodes, as in 0-1,3; in arguments with + between. */
static uint64_t nodes(const char *list)
{
	uint64_t all = 0;
	unsigned first, last;
	int end;

	while (sscanf(list, "%u%n", &first, &end) == 1) {
		list += end;
		last = first;
		if (*list == '-' && sscanf(++list, "%u%n", &last, &end) == 1)
			list += end;
		if (last >= NODES || first > last)
			break;
		for (; first <= last; first++)
			all |= (uint64_t)1 << first;
		if (*list != '+' && *list != ',')
			break;
		list++;
	}
	if (!all || (*list && *list != '\n'))
		die(0, "placement: found nodes %s, expected a list from 0 to %d", list, NODES - 1);
	return all;
}

static uint64_t online(void)
{
	char list[256] = "0";
	FILE *file = fopen("/sys/devices/system/node/online", "r");

	if (file) {
		if (!fgets(list, sizeof(list), file))
			die(errno, "/sys/devices/system/node/online");
		fclose(file);
	}
	return nodes(list);
}

/* `default`, `interleave`, `interleave=NODES` or `bind=NODES`. */
void place_memory(const char *text)
{
	int mode = strncmp(text, "bind=", 5) ? INTERLEAVE : BIND;
	const char *list = strchr(text, '=');
	uint64_t mask;

	if (!strcmp(text, "default"))
		return;
	if (mode == INTERLEAVE && (strncmp(text, "interleave", 10) || (text[10] && text[10] != '=')))
		die(0, "placement: found %s, expected default, interleave, interleave=NODES or bind=NODES", text);
	mask = list ? nodes(list + 1) : online();
	if (syscall(SYS_set_mempolicy, mode, (unsigned long[]){ (unsigned long)mask, (unsigned long)(mask >> 32 >> (sizeof(long) == 8 ? 32 : 0)) }, NODES + 1))
		die(errno, "set_mempolicy: %s", text);
}
