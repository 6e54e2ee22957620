/* The threads and the progress of one call of the shards library. */
#ifndef TOOL_CONTROL_H
#define TOOL_CONTROL_H

#include <gfsmith_parallel.h>
#include <gfsmith_shards.h>
#include <stdint.h>

#include "options.h"
#include "progress.h"

/* Points to itself, so it must not move between begin and end. */
typedef struct control {
  gfsmith_shards_control shards; /* the argument of the call */
  gfsmith_pool *pool;            /* NULL: the calling thread works alone */
  progress bar;
} control;

/* Start opt->threads threads (0: one for each CPU that the process may use) and the progress of
 * `total` bytes (0: unknown). Without memory for the threads the calling thread works alone. */
void control_begin(control *call, const char *label, uint64_t total, const options *opt);
/* Call task(argument, i) for every i < tasks, in the threads of the call. */
void control_run(const control *call, unsigned tasks, void (*task)(void *argument, unsigned index),
                 void *argument);
/* Stop the threads and end the line of the progress. */
void control_end(control *call);

#endif
