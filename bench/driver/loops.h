/* loops.h: the touch loops of a search (python -m bench.limits). */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include "peer.h"

typedef void touch_fn(const bench_job *job);

/* The last bytes of every shard, from `at` on: fewer than 64. */
void loops_touch_rest(const bench_job *job, uint8_t **shard, size_t at);

/* The loop of a variant, or NULL. */
touch_fn *const *loops_find(const char *variant);

#endif
