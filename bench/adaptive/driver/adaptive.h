/* gfsmith with a coordinator (gfsmith_adaptive.h), as contenders of two libraries. */
#ifndef BENCH_ADAPTIVE_H
#define BENCH_ADAPTIVE_H

#include "../../driver/cell.h"

/* Adapts; the variant is an instruction set. All contenders share one coordinator, and those of one
 * code and shape share one codec, as the parts of a program do. */
extern const peer_api adaptive_contender;

/* Always uses the policy that its variant names, with its own coordinator. */
extern const peer_api policy_contender;

/* The policy of an adaptive contender for shards of this length, as text. */
void adaptive_policy(const void *peer, size_t len, char *text, size_t size);

/* Sets the file of the trace, or NULL; to be called before the first contender is opened. */
void adaptive_trace(const char *file);

#endif
