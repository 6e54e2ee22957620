/* policy.h: how a call reads memory, as 32 bits that change at once, and as text. */
#ifndef GFS_POLICY_H
#define GFS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gfs_walk_kind {
  GFS_WALK_DEFAULT,        /* the steps of apply.c */
  GFS_WALK_PLAIN,          /* whole shards, no prefetch instruction */
  GFS_WALK_ROW,            /* from here on, pipelined kernels (GFSMITH_ADAPTIVE in adaptive.inc) */
  GFS_WALK_ROWS4,          /* rows, several lines a turn */
  GFS_WALK_BLOCK,          /* some lines of a source, then of the next */
  GFS_WALK_BLOCK_SHUFFLED, /* the same, lines out of order */
  GFS_WALK_SHUFFLED,       /* rows out of order */
  GFS_WALKS                /* how many */
} gfs_walk_kind;

/* Walks that run pipelined kernels are those from here on. */
#define GFS_WALK_PIPELINED GFS_WALK_ROW

/* The distance is one line of every source, whatever the shape. */
#define GFS_DISTANCE_ROW 4095u

typedef struct gfs_policy {
  gfs_walk_kind walk;
  unsigned
      distance;   /* of what is asked for, in visited lines; 0 for walks that are not pipelined */
  unsigned first; /* of the first line of a device's line; 0: as any other */
  bool streaming; /* stores around the cache; false for walks that are not pipelined */
} gfs_policy;

/* As 32 bits, of which bit 31 is always set: 0 is no policy. */
uint32_t gfs_policy_pack(gfs_policy policy);

static inline gfs_policy gfs_policy_unpack(uint32_t packed) {
  return (gfs_policy){.walk = (gfs_walk_kind)(packed & 7),
                      .distance = packed >> 4 & 4095,
                      .first = packed >> 16 & 4095,
                      .streaming = (packed & 8) != 0};
}

/* Without unpacking the rest. 0 counts as `default`. */
static inline bool gfs_policy_is_default(uint32_t packed) {
  return (packed & 7) == GFS_WALK_DEFAULT;
}

/* Bytes that every policy's text fits in, with its zero byte. */
enum { GFS_POLICY_TEXT = 64 };

/* Write its text, cut to size bytes with the zero byte. Returns its whole length. */
size_t gfs_policy_text(gfs_policy policy, char *text, size_t size);

/* Read one. False if the text is none. */
bool gfs_policy_read(const char *text, gfs_policy *policy);

#endif
