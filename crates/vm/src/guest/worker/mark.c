/* Marks around a program that knows nothing of them. */
#include "marks.h"
#include "worker.h"

#include <string.h>

void mark(struct arguments *all)
{
	const char *at = text(all, "at");

	no_more(all);
	if (!strcmp(at, "watch")) {
		MARK(MARK_WATCH);
		/* Code is translated anew from the next block on that every CPU enters. */
		sleep_ns(50000000);
	} else if (!strcmp(at, "start")) {
		MARK(MARK_SNAPSHOT);
	} else if (!strcmp(at, "end")) {
		MARK(MARK_SNAPSHOT + 1);
	} else {
		die(0, "at: found %s, expected watch, start or end", at);
	}
}
