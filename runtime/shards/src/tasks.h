/* tasks.h: the steps of a call that may run in several threads, and buffers of records. */
#ifndef GFS_SHARDS_TASKS_H
#define GFS_SHARDS_TASKS_H

#include "format.h"

enum { GFS_SHARDS_MOST_STRIPES = 64 }; /* of a batch */

/* Call task(argument, i) for each i < tasks, by the threads of the control. */
void gfs_shards_run(const gfsmith_shards_control *control, unsigned tasks,
                    void (*task)(void *argument, unsigned index), void *argument);

/* Report progress. False: the caller cancels. */
bool gfs_shards_progress(const gfsmith_shards_control *control, uint64_t done);

/* Number of stripes of one of two buffers, so that both fit into the memory of the control. */
unsigned gfs_shards_batch(const gfsmith_shards_control *control,
                          const gfsmith_shards_header *header);

/* Memory for `shards` areas of `size` bytes each, aligned to a page; NULL: out of memory. Free with
 * free. */
uint8_t *gfs_shards_memory(unsigned shards, size_t size);

#endif
