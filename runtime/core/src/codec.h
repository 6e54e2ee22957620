/* codec.h: the members of a codec. */
#ifndef GFS_CODEC_H
#define GFS_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "adders.h"
#include "dispatch.h"
#include "field.h"
#include "gfsmith.h"
#include "map.h"
#include "packets.h"
#include "repairs.h"

struct gfsmith_codec {
  gfs_field field;
  const gfs_isa *isa; /* repairs use the same instruction set as encoding */
  gfs_map *encoder;
  gfs_adders *adders;   /* for every mad pass of the encoder */
  gfs_packets *packets; /* NULL: ordinary layout */
  gfs_repairs *repairs; /* the cache of repairs, the only member that changes while threads share
                           the codec */
  gfs_coordinator *adaptive; /* for the encoder and for plans created later; NULL: none */
  gfsmith_hint hint;
  bool mds;     /* proved: any k shards determine the others */
  bool locates; /* can a wrong shard be distinguished from any other? */
  unsigned k;
  unsigned m;
  uint8_t matrix[]; /* m rows of k */
};

/* Is this a valid length of a shard? */
static inline bool gfs_length_valid(const gfsmith_codec *codec, size_t len) {
  return codec->packets == NULL || len % (GFS_PACKETS * codec->packets->packet) == 0;
}

/* Are an array of pointers and its first `count` pointers all other than NULL? */
static inline bool gfs_all_given(const uint8_t *const *pointers, size_t count) {
  if (pointers == NULL)
    return false;
  /* This loop takes a considerable part of a call on short shards. It has no exit in the middle,
   * which would compete for the branch predictor, and it counts, because adding a comparison with
   * carry takes one instruction on most CPUs. */
  size_t missing = 0;
  const uint8_t *const *end = pointers + count;
  for (; end - pointers >= 4; pointers += 4) {
    missing += pointers[0] == NULL;
    missing += pointers[1] == NULL;
    missing += pointers[2] == NULL;
    missing += pointers[3] == NULL;
  }
  for (; pointers != end; pointers++)
    missing += *pointers == NULL;
  return missing == 0;
}

#endif
