/* Queues in memory that threads share: who finds nothing, or no room, sleeps in a futex. */
#define _GNU_SOURCE
#include "fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/* Room that a queue without limit begins with. */
#define FIRST_ROOM 64

struct channel {
	_Alignas(APART) pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	/* A ring, sorted by number where they are in order. */
	struct message *messages;
	size_t room, first, count, most, readers, writers;
	uint64_t next;
	bool ordered;
};

struct channel *channel(size_t most, bool ordered)
{
	struct channel *made = zeros(sizeof(*made));

	made->room = most ? most + 1 : FIRST_ROOM;
	made->messages = malloc(made->room * sizeof(*made->messages));
	if (!made->messages)
		die(errno, "a queue of %zu", made->room);
	made->most = most;
	made->ordered = ordered;
	made->next = 1;
	if (pthread_mutex_init(&made->lock, NULL) || pthread_cond_init(&made->filled, NULL) || pthread_cond_init(&made->emptied, NULL))
		die(0, "a queue");
	return made;
}

static struct message *at(struct channel *channel, size_t nth)
{
	return &channel->messages[(channel->first + nth) % channel->room];
}

static void grow(struct channel *channel)
{
	struct message *more = malloc(2 * channel->room * sizeof(*more));

	if (!more)
		die(errno, "a queue of %zu", 2 * channel->room);
	for (size_t nth = 0; nth < channel->count; nth++)
		more[nth] = *at(channel, nth);
	free(channel->messages);
	channel->messages = more;
	channel->room *= 2;
	channel->first = 0;
}

/* In order, the one whose turn it is always finds room. */
static bool full(const struct channel *channel, uint64_t number)
{
	if (!channel->most || channel->count < channel->most)
		return false;
	return !(channel->ordered && number == channel->next);
}

static bool ready(struct channel *channel)
{
	return channel->count && (!channel->ordered || at(channel, 0)->number == channel->next);
}

void put(struct channel *channel, struct message message)
{
	size_t place;
	bool wakes;

	pthread_mutex_lock(&channel->lock);
	while (full(channel, message.number)) {
		channel->writers++;
		pthread_cond_wait(&channel->emptied, &channel->lock);
		channel->writers--;
	}
	if (channel->count == channel->room)
		grow(channel);
	for (place = channel->count++; channel->ordered && place && at(channel, place - 1)->number > message.number; place--)
		*at(channel, place) = *at(channel, place - 1);
	*at(channel, place) = message;
	wakes = channel->readers && ready(channel);
	pthread_mutex_unlock(&channel->lock);
	if (wakes)
		pthread_cond_signal(&channel->filled);
}

struct message take(struct channel *channel)
{
	struct message taken;
	bool room, more;

	pthread_mutex_lock(&channel->lock);
	while (!ready(channel)) {
		channel->readers++;
		pthread_cond_wait(&channel->filled, &channel->lock);
		channel->readers--;
	}
	taken = *at(channel, 0);
	channel->first = (channel->first + 1) % channel->room;
	channel->count--;
	channel->next++;
	room = channel->writers;
	more = channel->ordered && channel->readers && ready(channel);
	pthread_mutex_unlock(&channel->lock);
	/* In order, it may be anybody's turn. */
	if (room && channel->ordered)
		pthread_cond_broadcast(&channel->emptied);
	else if (room)
		pthread_cond_signal(&channel->emptied);
	if (more)
		pthread_cond_signal(&channel->filled);
	return taken;
}

void called(const char *name)
{
	if (prctl(PR_SET_NAME, name))
		die(errno, "a name");
}

void sleep_until(uint64_t ns)
{
	struct timespec at = { .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
	int error;

	while ((error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL)))
		if (error != EINTR)
			die(error, "clock_nanosleep");
}
