/* lane.h: one shard's stream: its records, batch by batch. */
#ifndef GFS_SHARDS_LANE_H
#define GFS_SHARDS_LANE_H

#include "format.h"

enum {
  /* A batch is read with this many bytes more, so that a trailer behind an incomplete block is in
   * the same buffer. */
  GFS_SHARDS_AHEAD = 64
};

typedef struct gfs_shards_lane {
  const gfsmith_shards_source *from; /* NULL: there is no stream */
  uint64_t tag;
  uint64_t stripe; /* number of the next record */
  size_t carry;    /* bytes of the next batch that are behind the records of the last one */
  size_t have;     /* bytes of this batch */
  bool active;     /* is it read? */
  bool at_end;
  bool unreadable;
  bool too_long;
  bool has_end; /* a good trailer */
  gfs_shards_end end;
} gfs_shards_lane;

/* Read `size` bytes, fewer only at the end or after a failure. */
size_t gfs_shards_lane_fill(gfs_shards_lane *lane, uint8_t *to, size_t size);

/* Move to record `stripe`, from the end of the header. */
void gfs_shards_lane_skip(gfs_shards_lane *lane, const gfsmith_shards_header *header,
                          uint64_t stripe);

/* Read the records of the next `most` stripes. b[t]: bytes of the good block of the t-th of them, 0
 * if it is lost. `before` has the records of the previous batch. */
void gfs_shards_lane_read(gfs_shards_lane *lane, const gfsmith_shards_header *header,
                          uint8_t *bytes, const uint8_t *before, unsigned most, uint32_t *b);

#endif
