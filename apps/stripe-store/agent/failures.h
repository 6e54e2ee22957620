/* Random degraded reads, as in section IV-B of the paper: the number of reads between failures has
 * a Weibull distribution, whose shape is that of failures of large systems, and whose mean makes
 * `rate` the share of degraded reads. */
#ifndef STORE_FAILURES_H
#define STORE_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct failures failures;

/* Parse "weibull:SHAPE:RATE" or "weibull:SHAPE:RATE:LOST": LOST chunks are missing (default 1).
 * False: the text is invalid; shape is 0.1 to 10, rate 0 to 1, lost 1 to most. */
bool failures_create(failures **out, const char *text, unsigned most, uint64_t seed);
void failures_destroy(failures *d);
/* The data shards that this read treats as missing: none, or `lost` of the first k. */
uint64_t failures_next(failures *d, unsigned k);

#endif
