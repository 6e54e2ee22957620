/* Random degraded reads, as in section IV-B of the paper: the number of reads between failures has
 * a Weibull distribution, whose shape is that of failures of large systems, and whose mean makes
 * `rate` the share of degraded reads. */
#ifndef STORE_DRAW_H
#define STORE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct draw draw;

/* Parse "weibull:SHAPE:RATE" or "weibull:SHAPE:RATE:LOST": LOST chunks are missing (default 1).
 * False: the text is invalid; shape is 0.1 to 10, rate 0 to 1, lost 1 to most. */
bool draw_create(draw **out, const char *text, unsigned most, uint64_t seed);
void draw_destroy(draw *d);
/* The data shards that this read treats as missing: none, or `lost` of the first k. */
uint64_t draw_next(draw *d, unsigned k);

#endif
