/* loops.h: the touch loops of a search (python -m bench.limits). */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include "peer.h"

typedef void touch_fn(const bench_job *job);

/* The loop of a variant, or NULL. */
touch_fn *const *loops_find(const char *variant);

#endif
