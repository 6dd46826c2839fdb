/* TCP over 127.0.0.1. */
#define _GNU_SOURCE
#include "worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

void connect_ends(int listening, int ends[2])
{
	struct sockaddr_in where;
	socklen_t size = sizeof(where);
	int now = 1;

	ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ends[0] < 0 || getsockname(listening, (struct sockaddr *)&where, &size))
		die(errno, "socket");
	if (connect(ends[0], (struct sockaddr *)&where, sizeof(where)))
		die(errno, "connect to 127.0.0.1 (is lo up?)");
	ends[1] = accept(listening, NULL, NULL);
	if (ends[1] < 0)
		die(errno, "accept");
	for (int end = 0; end < 2; end++)
		if (setsockopt(ends[end], IPPROTO_TCP, TCP_NODELAY, &now, sizeof(now)))
			die(errno, "TCP_NODELAY");
}

int listening_socket(void)
{
	struct sockaddr_in where = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int found = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (found < 0 || bind(found, (struct sockaddr *)&where, sizeof(where)) || listen(found, 1))
		die(errno, "socket on 127.0.0.1 (is lo up?)");
	return found;
}
