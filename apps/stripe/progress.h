/* A progress bar on stderr, on terminals and without --quiet only. */
#ifndef STRIPE_PROGRESS_H
#define STRIPE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  const char *label;
  uint64_t total; /* bytes */
  uint64_t done;
  double began; /* seconds, monotonic clock */
  double drawn; /* time of the last update */
  bool shown;
} progress;

void progress_begin(progress *bar, const char *label, uint64_t total, bool quiet);
void progress_add(progress *bar, uint64_t bytes);
/* Draw the final state and end the line. */
void progress_end(progress *bar);

#endif
