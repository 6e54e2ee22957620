/* policy.h: the policy of a call, as 32 bits that can be stored atomically, and as text. */
#ifndef GFS_POLICY_H
#define GFS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gfs_walk_kind {
  GFS_WALK_DEFAULT,        /* the steps of apply.c */
  GFS_WALK_PLAIN,          /* whole shards, no prefetch instruction */
  GFS_WALK_ROW,            /* first of the pipelined kernels (GFSMITH_PIPELINED in pipelined.inc) */
  GFS_WALK_ROWS4,          /* rows, several lines per iteration */
  GFS_WALK_BLOCK,          /* some lines of a source, then of the next source */
  GFS_WALK_BLOCK_SHUFFLED, /* blocks with shuffled lines */
  GFS_WALK_SHUFFLED,       /* shuffled rows */
  GFS_WALKS                /* number of traversal orders */
} gfs_walk_kind;

/* The first traversal order with pipelined kernels. */
#define GFS_WALK_PIPELINED GFS_WALK_ROW

/* A distance of one line of every source, for any shape. */
#define GFS_DISTANCE_ROW 4095u

typedef struct gfs_policy {
  gfs_walk_kind walk;
  unsigned distance; /* prefetch distance in visited lines; 0 for orders that are not pipelined */
  unsigned first;    /* distance of the first line of each device line; 0: as the others */
  bool streaming;    /* streaming stores; false for orders that are not pipelined */
  bool pages; /* `walk` for whole pages only, and its shuffled order for the rest of a shard */
} gfs_policy;

/* Pack into 32 bits. Bit 31 is always set: 0 is not a policy. */
uint32_t gfs_policy_pack(gfs_policy policy);

static inline gfs_policy gfs_policy_unpack(uint32_t packed) {
  return (gfs_policy){.walk = (gfs_walk_kind)(packed & 7),
                      .distance = packed >> 4 & 4095,
                      .first = packed >> 16 & 4095,
                      .streaming = (packed & 8) != 0,
                      .pages = (packed >> 28 & 1) != 0};
}

/* The order that visits the lines of `walk` without a constant direction; GFS_WALK_DEFAULT if
 * there is none. */
static inline gfs_walk_kind gfs_walk_shuffled(gfs_walk_kind walk) {
  if (walk == GFS_WALK_BLOCK)
    return GFS_WALK_BLOCK_SHUFFLED;
  return walk == GFS_WALK_ROW || walk == GFS_WALK_ROWS4 ? GFS_WALK_SHUFFLED : GFS_WALK_DEFAULT;
}

/* Is the packed policy `default`? 0 counts as `default`. */
static inline bool gfs_policy_is_default(uint32_t packed) {
  return (packed & 7) == GFS_WALK_DEFAULT;
}

/* Bytes that suffice for the text of any policy, with its zero byte. */
enum { GFS_POLICY_TEXT = 64 };

/* Write the text, truncated to size bytes with the zero byte. Return its full length. */
size_t gfs_policy_text(gfs_policy policy, char *text, size_t size);

/* Parse a policy. False if the text is invalid. */
bool gfs_policy_read(const char *text, gfs_policy *policy);

#endif
