/* STREAM, whoever its threads are. */
#ifndef STREAM_H
#define STREAM_H

#include <stddef.h>

struct arguments;

/* Takes the arguments for the arrays and makes them, untouched. */
void stream_begin(struct arguments *all);
/* What thread `nth` does: it touches its part first, and meets the others before and after each kernel. */
void stream_part(size_t nth, size_t threads, void (*wait_for_all)(void));
/* Checks the arrays and prints the results. */
void stream_end(void);

#endif
