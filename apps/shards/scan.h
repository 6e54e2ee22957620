/* A pass over all shards of a set. */
#ifndef TOOL_SCAN_H
#define TOOL_SCAN_H

#include "options.h"
#include "set.h"

/* Check all shards: fills set->report. *status: the result of gfsmith_shards_verify. TOOL_REFUSED
 * after a message, or a signal. */
int scan(shard_set *set, const options *opt, int *status);
/* Write complete shards to the sinks, or the original to `original`. Returns the library's status.
 */
int scan_repair(shard_set *set, const options *opt, const gfsmith_shards_sink *sinks);
int scan_join(shard_set *set, const options *opt, const gfsmith_shards_sink *original);

#endif
