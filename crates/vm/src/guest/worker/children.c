/* Processes of a part. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child(void)
{
	pid_t parent = getpid(), forked;

	fflush(stdout);
	forked = fork();
	if (forked < 0)
		die(errno, "fork");
	if (!forked && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		die(0, "the parent is gone");
	return forked;
}

void end_children(const pid_t *children, size_t count)
{
	if (waitpid(-1, NULL, WNOHANG))
		die(0, "a process ended early");
	for (size_t nth = 0; nth < count; nth++)
		if (kill(children[nth], SIGSTOP))
			die(errno, "cannot stop a process");
	for (size_t nth = 0; nth < count; nth++)
		if (kill(children[nth], SIGKILL) || waitpid(children[nth], NULL, 0) != children[nth])
			die(errno, "cannot end a process");
}
