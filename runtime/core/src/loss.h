/* loss.h: sets of shards: the missing ones, and the missing ones to rebuild. */
#ifndef GFS_LOSS_H
#define GFS_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "gfsmith.h"

/* Some of a codec's shards, by index: data j is j, parity i is k + i. */
typedef struct gfs_shards {
  unsigned count;
  uint8_t shard[GFSMITH_MAX_SHARDS];
} gfs_shards;

static inline void gfs_shards_append(gfs_shards *list, unsigned shard) {
  list->shard[list->count++] = (uint8_t)shard;
}

enum { GFS_LOSS_WORDS = (GFSMITH_MAX_SHARDS + 63) / 64 };

/* A loss, with one bit for each shard. */
typedef struct gfs_loss {
  uint64_t missing[GFS_LOSS_WORDS];
  uint64_t target[GFS_LOSS_WORDS]; /* missing and wanted */
} gfs_loss;

static inline bool gfs_loss_has(const uint64_t *bits, unsigned shard) {
  return bits[shard / 64] >> shard % 64 & 1;
}

static inline bool gfs_loss_any(const uint64_t *bits) {
  uint64_t any = 0;
  for (unsigned n = 0; n < GFS_LOSS_WORDS; n++)
    any |= bits[n];
  return any != 0;
}

#endif
