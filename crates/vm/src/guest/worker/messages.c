/* Messages between two tasks, each bound to a CPU. */
#define _GNU_SOURCE
#include "worker.h"

#include "costs.h"
#include "marks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Words on lines of their own. */
struct words {
	_Alignas(APART) _Atomic uint32_t there;
	_Alignas(APART) _Atomic uint32_t back;
	_Alignas(APART) pthread_mutex_t mutex;
	/* How often somebody asked for the mutex, and whose request was granted last. */
	_Alignas(APART) _Atomic uint64_t asks;
	_Alignas(APART) _Atomic uint64_t has;
};

static struct words *words;
/* What each side writes to and reads from: the first is this task's, the second the peer's. */
static int to[2], from[2];
static void (*give)(struct costs *of, int side);
static void (*take)(struct costs *of, int side);
static char buffer[2][65536];

static void futex(_Atomic uint32_t *at, int operation, uint32_t value)
{
	if (syscall(SYS_futex, at, operation, value, NULL, NULL, 0) < 0 && errno != EAGAIN && errno != EINTR)
		die(errno, "futex");
}

static void post(_Atomic uint32_t *at)
{
	atomic_store(at, 1);
	futex(at, FUTEX_WAKE, 1);
}

static void wait_for(_Atomic uint32_t *at)
{
	while (!atomic_load(at))
		futex(at, FUTEX_WAIT, 0);
	atomic_store(at, 0);
}

static void give_file(struct costs *of, int side)
{
	MARK(SECTION_GIVE);
	if (write(to[side], buffer[side], of->bytes) != (ssize_t)of->bytes)
		die(errno, "write");
	MARK(SECTION_NONE);
}

static void take_file(struct costs *of, int side)
{
	size_t got = 0;

	MARK(SECTION_TAKE);
	while (got < of->bytes) {
		ssize_t now = read(from[side], buffer[side] + got, of->bytes - got);

		if (now <= 0)
			die(errno, "read");
		got += (size_t)now;
	}
	MARK(SECTION_NONE);
}

static void give_futex(struct costs *of, int side)
{
	(void)of;
	MARK(SECTION_GIVE);
	post(side ? &words->back : &words->there);
	MARK(SECTION_NONE);
}

static void take_futex(struct costs *of, int side)
{
	(void)of;
	MARK(SECTION_TAKE);
	wait_for(side ? &words->there : &words->back);
	MARK(SECTION_NONE);
}

/* The peer sleeps in the mutex, as far as one can know from outside, before it is let go. */
static void give_mutex(struct costs *of, int side)
{
	(void)of;
	(void)side;
	while (atomic_load(&words->asks) <= atomic_load(&words->has))
		;
	for (unsigned int turn = 0; turn < 20000; turn++)
		__asm__ volatile("" ::: "memory");
	MARK(SECTION_GIVE);
	pthread_mutex_unlock(&words->mutex);
	MARK(SECTION_NONE);
}

static void take_mutex(struct costs *of, int side)
{
	uint64_t mine = atomic_fetch_add(&words->asks, 1) + 1;

	(void)of;
	(void)side;
	/* The mutex is not handed over: who lets it go could have it again before the one that was woken. */
	while (atomic_load(&words->has) + 1 < mine)
		;
	MARK(SECTION_TAKE);
	pthread_mutex_lock(&words->mutex);
	MARK(SECTION_NONE);
	atomic_store(&words->has, mine);
}

/* Buffered messages wait until all are there; how the two agree on that is nobody's part. */
void exchange(struct costs *of)
{
	if (!of->batch) {
		give(of, 0);
		take(of, 0);
		return;
	}
	for (size_t nth = 0; nth < of->batch; nth++)
		give(of, 0);
	post(&words->there);
	wait_for(&words->back);
	for (size_t nth = 0; nth < of->batch; nth++)
		take(of, 0);
}

static void answer(struct costs *of)
{
	if (!of->batch) {
		take(of, 1);
		give(of, 1);
		return;
	}
	wait_for(&words->there);
	for (size_t nth = 0; nth < of->batch; nth++)
		take(of, 1);
	for (size_t nth = 0; nth < of->batch; nth++)
		give(of, 1);
	post(&words->back);
}

static void *peer(void *data)
{
	struct costs *of = data;

	bind_to(0, of->peer, -1);
	for (uint64_t nth = 0; nth < of->rounds; nth++)
		answer(of);
	return NULL;
}

static void begin(struct costs *of)
{
	if (of->threads) {
		of->thread = start(peer, of);
		return;
	}
	of->child = fork();
	if (of->child < 0)
		die(errno, "fork");
	if (!of->child) {
		peer(of);
		_exit(0);
	}
}

void end_exchange(struct costs *of)
{
	int status;

	if (of->threads)
		join(of->thread);
	else if (waitpid(of->child, &status, 0) != of->child || status)
		die(0, "the peer failed");
}

static void begin_files(struct costs *of)
{
	words = shared_zeros(sizeof(*words));
	give = give_file;
	take = take_file;
	begin(of);
}

void begin_pipe(struct costs *of)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		die(errno, "pipe");
	to[0] = there[1];
	from[1] = there[0];
	to[1] = back[1];
	from[0] = back[0];
	begin_files(of);
}

static void begin_ends(struct costs *of, const int ends[2])
{
	for (int side = 0; side < 2; side++)
		to[side] = from[side] = ends[side];
	begin_files(of);
}

/*
 * A pair for each direction: who sleeps in a socket is also woken when its own message has been read, as readers and writers of a socket
 * share a wait queue.
 */
void begin_unix(struct costs *of)
{
	int there[2], back[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, there) || socketpair(AF_UNIX, SOCK_STREAM, 0, back))
		die(errno, "socketpair");
	to[0] = there[0];
	from[1] = there[1];
	to[1] = back[0];
	from[0] = back[1];
	begin_files(of);
}

static int local_socket(int kind, struct sockaddr_in *where)
{
	socklen_t size = sizeof(*where);
	int found = socket(AF_INET, kind, 0);

	*where = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (found < 0 || bind(found, (struct sockaddr *)where, size) || getsockname(found, (struct sockaddr *)where, &size))
		die(errno, "socket on 127.0.0.1 (is lo up?)");
	return found;
}

void begin_tcp(struct costs *of)
{
	struct sockaddr_in where;
	int listening = local_socket(SOCK_STREAM, &where), ends[2], now = 1;

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (listen(listening, 1) || ends[0] < 0 || connect(ends[0], (struct sockaddr *)&where, sizeof(where)))
		die(errno, "connect to 127.0.0.1");
	ends[1] = accept(listening, NULL, NULL);
	if (ends[1] < 0)
		die(errno, "accept");
	for (int side = 0; side < 2; side++)
		if (setsockopt(ends[side], IPPROTO_TCP, TCP_NODELAY, &now, sizeof(now)))
			die(errno, "TCP_NODELAY");
	begin_ends(of, ends);
}

void begin_udp(struct costs *of)
{
	struct sockaddr_in where[2];
	int ends[2] = { local_socket(SOCK_DGRAM, &where[0]), local_socket(SOCK_DGRAM, &where[1]) };

	for (int side = 0; side < 2; side++)
		if (connect(ends[side], (struct sockaddr *)&where[!side], sizeof(where[0])))
			die(errno, "connect to 127.0.0.1");
	begin_ends(of, ends);
}

void begin_eventfd(struct costs *of)
{
	int there = eventfd(0, 0), back = eventfd(0, 0);

	if (there < 0 || back < 0)
		die(errno, "eventfd");
	to[0] = from[1] = there;
	to[1] = from[0] = back;
	of->bytes = sizeof(uint64_t);
	*(uint64_t *)buffer[0] = *(uint64_t *)buffer[1] = 1;
	begin_files(of);
}

void begin_futex(struct costs *of)
{
	words = shared_zeros(sizeof(*words));
	give = give_futex;
	take = take_futex;
	begin(of);
}

/* Who holds the mutex gives it and asks for it again: so both sides give first, and this one begins with it. */
void begin_mutex(struct costs *of)
{
	pthread_mutexattr_t shared;

	words = shared_zeros(sizeof(*words));
	if (pthread_mutexattr_init(&shared) || pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) ||
	    pthread_mutex_init(&words->mutex, &shared))
		die(0, "pthread_mutex_init");
	give = give_mutex;
	take = take_mutex;
	pthread_mutex_lock(&words->mutex);
	begin(of);
}
