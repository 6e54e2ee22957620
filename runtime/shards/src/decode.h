/* decode.h: the state of a call that reads shards, and its steps. */
#ifndef GFS_SHARDS_DECODE_H
#define GFS_SHARDS_DECODE_H

#include "checksum.h"
#include "lane.h"
#include "tasks.h"

#include <stdatomic.h>

/* The stripes of one batch. */
typedef struct gfs_shards_batch_state {
  uint8_t *memory;                                            /* an area for each shard */
  uint64_t first;                                             /* number of the first stripe */
  unsigned stripes;                                           /* number */
  uint32_t bytes[GFS_SHARDS_MOST_STRIPES];                    /* of the blocks of each stripe */
  bool lost[GFS_SHARDS_MOST_STRIPES];                         /* cannot be repaired */
  bool no_data[GFS_SHARDS_MOST_STRIPES];                      /* not all data are known */
  bool wrong[GFS_SHARDS_MOST_STRIPES];                        /* the parities do not match */
  uint32_t good[GFSMITH_MAX_SHARDS][GFS_SHARDS_MOST_STRIPES]; /* bytes of good blocks, else 0 */
} gfs_shards_batch_state;

typedef struct gfs_shards_decode {
  const gfsmith_shards_header *header;
  const gfsmith_shards_control *control;
  gfsmith_shards_report *report;
  const gfsmith_shards_sink *original; /* NULL, or where the original goes */
  const gfsmith_shards_sink *sinks;    /* NULL, or where complete shards go, by index */
  gfsmith_codec *codec;
  unsigned count, most;
  size_t pitch, area;
  gfs_shards_batch_state batches[2];
  gfs_shards_batch_state *reading, *writing;
  gfs_shards_lane lanes[GFSMITH_MAX_SHARDS];
  bool has_end;
  gfs_shards_end end;
  bool complete; /* all data were known so far, so the checksum is that of the original */
  uint64_t done; /* bytes of the original */
  XXH3_state_t *checksum;
  atomic_int status;
} gfs_shards_decode;

/* Record the first failure. */
void gfs_shards_fail(gfs_shards_decode *job, int status);

/* Read the headers of all sources, and assign them to lanes. */
int gfs_shards_headers(gfs_shards_decode *job, const gfsmith_shards_source *sources,
                       unsigned count);

/* The record of a shard in a batch. */
uint8_t *gfs_shards_record(const gfs_shards_decode *job, const gfs_shards_batch_state *batch,
                           unsigned shard, unsigned stripe);

/* Does a call write this shard? */
bool gfs_shards_wanted(const gfs_shards_decode *job, unsigned shard);

/* Rebuild the lost blocks of a stripe of job->reading that the call needs; a task. */
void gfs_shards_rebuild(void *argument, unsigned stripe);

/* Task 0 writes the original of job->writing; task 1 + i writes the records of shard i and reads
 * its next batch. */
void gfs_shards_transfer(void *argument, unsigned task);

/* Write the header or the trailer of a wanted shard; tasks. */
void gfs_shards_begin_shard(void *argument, unsigned shard);
void gfs_shards_end_shard(void *argument, unsigned shard);

#endif
