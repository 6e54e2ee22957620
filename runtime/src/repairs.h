/* repairs.h: repairs worked out before, kept in the codec, by what is missing and what is wanted.
 *
 * Finding how lost shards follow from the others takes longer than a short shard's repair, and
 * while a disk or a node is down the same loss comes again and again. Looking up takes no lock. */
#ifndef GFS_REPAIRS_H
#define GFS_REPAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "gfsmith.h"
#include "map.h"
#include "packets.h"

/* Some of a codec's shards, by index: data j is j, parity i is k + i. */
typedef struct gfs_shards {
  unsigned count;
  uint8_t shard[GFSMITH_MAX_SHARDS];
} gfs_shards;

enum { GFS_LOSS_WORDS = (GFSMITH_MAX_SHARDS + 63) / 64 };

/* A loss, one bit for each shard. */
typedef struct gfs_loss {
  uint64_t missing[GFS_LOSS_WORDS];
  uint64_t target[GFS_LOSS_WORDS]; /* missing and wanted */
} gfs_loss;

/* How a loss is repaired: the targets are the map of the sources, or in packet layout what the
 * schedule computes of them; the other is NULL. Immutable. */
typedef struct gfs_repair {
  gfs_loss loss;
  gfs_shards source;
  gfs_shards target;
  gfs_map *map;
  gfs_schedule *schedule;
} gfs_repair;

/* NULL is allowed and does nothing. */
void gfs_repair_free(gfs_repair *repair);

typedef struct gfs_repairs gfs_repairs;

/* An empty collection; NULL if there is no memory. */
gfs_repairs *gfs_repairs_create(void);

/* Free it and all repairs in it. NULL is allowed and does nothing. */
void gfs_repairs_free(gfs_repairs *repairs);

/* The repair of this loss, valid as long as the collection is; NULL if it is not there. */
const gfs_repair *gfs_repairs_find(const gfs_repairs *repairs, const gfs_loss *loss);

/* Keep a repair, which then belongs to the collection. False if it does not take it: no room is
 * left, or another thread was first with the same loss. */
bool gfs_repairs_keep(gfs_repairs *repairs, gfs_repair *repair);

#endif
