/* Progress on stderr: a bar on a terminal, else a line every 15 seconds. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  const char *label;
  uint64_t total; /* bytes */
  uint64_t done;
  double began; /* seconds, monotonic clock */
  double drawn; /* time of the last update */
  bool shown;
  bool terminal;
} progress;

/* total = 0: unknown. */
void progress_begin(progress *bar, const char *label, uint64_t total, bool quiet);
/* The bytes done so far; the callback of gfsmith_shards_control. False: a signal came. */
bool progress_set(void *bar, uint64_t done);
/* Draw the final state of a bar and end its line. */
void progress_end(progress *bar);

#endif
