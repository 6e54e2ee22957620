/* A progress bar on stderr: only on a terminal, only without --quiet. */
#ifndef STRIPE_PROGRESS_H
#define STRIPE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  const char *label;
  uint64_t total; /* bytes */
  uint64_t done;
  double began; /* seconds, monotonic clock */
  double drawn; /* when the bar was last drawn */
  bool shown;
} progress;

void progress_begin(progress *bar, const char *label, uint64_t total, bool quiet);
void progress_add(progress *bar, uint64_t bytes);
/* Draws the last state and ends the line. */
void progress_end(progress *bar);

#endif
