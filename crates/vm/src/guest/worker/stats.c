/*
 * Statistics of a sched_ext scheduler that serves them on a socket, as the crate scx_stats does: a request is a line of JSON, and so is
 * its answer. A scheduler counts from the last request of a connection on: the first one is made when a program begins, the second when the
 * input ends.
 */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST "{\"req\":\"stats\",\"args\":{\"target\":\"top\"}}\n"

/* How long an answer may take. */
#define PATIENCE_S 10

static int connected(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int to = socket(AF_UNIX, SOCK_STREAM, 0);

	if (to < 0)
		die(errno, "socket");
	if (strlen(path) >= sizeof(address.sun_path))
		die(0, "path: found %s, expected a shorter one", path);
	strcpy(address.sun_path, path);
	if (connect(to, (struct sockaddr *)&address, sizeof(address)))
		die(errno, "%s", path);
	if (setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		die(errno, "%s", path);
	return to;
}

/* Prints the answer to one request. */
static void ask(int to, const char *path)
{
	char buffer[4096];
	bool ended = false;

	if (send(to, REQUEST, strlen(REQUEST), MSG_NOSIGNAL) < 0)
		die(errno, "%s", path);
	while (!ended) {
		ssize_t got = read(to, buffer, sizeof(buffer));

		if (got <= 0)
			die(got ? errno : 0, "%s: no whole answer", path);
		ended = memchr(buffer, '\n', got);
		fwrite(buffer, 1, got, stdout);
	}
	if (fflush(stdout))
		die(errno, "output");
}

void stats(struct arguments *all)
{
	const char *path = text(all, "path");
	char buffer[64];
	int to;

	no_more(all);
	to = connected(path);
	ask(to, path);
	while (read(STDIN_FILENO, buffer, sizeof(buffer)) > 0)
		;
	ask(to, path);
	close(to);
}
