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
  /* The most bytes of a shard for which a call of encode, and one of update with a single source,
   * are one call of a kernel in cache; 0 if none is. One comparison decides. */
  size_t short_encode;
  size_t short_update;
  bool mds;     /* proved: any k shards determine the others */
  bool locates; /* can a wrong shard be distinguished from any other? */
  unsigned k;
  unsigned m;
  uint8_t matrix[]; /* m rows of k */
};

/* Write short_encode and short_update. Must follow every change of the hint or the packets. */
void gfs_codec_find_short(gfsmith_codec *codec);

/* Is `len` from 1 to `most`? */
static inline bool gfs_length_within(size_t len, size_t most) { return len - 1 < most; }

/* Is this a valid length of a shard? */
static inline bool gfs_length_valid(const gfsmith_codec *codec, size_t len) {
  return codec->packets == NULL || len % (GFS_PACKETS * codec->packets->packet) == 0;
}

/* The number of NULLs among four pointers. It is a sum, because adding a comparison with carry
 * takes one instruction on most CPUs. */
static inline size_t gfs_missing_of_four(const uint8_t *const *pointers) {
  size_t missing = pointers[0] == NULL;
  missing += pointers[1] == NULL;
  missing += pointers[2] == NULL;
  missing += pointers[3] == NULL;
  return missing;
}

/* 0 if none of `count` pointers is NULL; count >= 1. This takes a considerable part of a call on
 * short shards. So there are few branches, which would compete for the branch predictor: some
 * pointers are compared twice instead of in a loop over the rest. */
static inline size_t gfs_missing(const uint8_t *const *pointers, size_t count) {
  if (count < 4) {
    size_t missing = pointers[0] == NULL;
    missing += pointers[count / 2] == NULL;
    missing += pointers[count - 1] == NULL;
    return missing;
  }
  size_t missing = 0;
  const uint8_t *const *last = pointers + (count - 4);
  for (; pointers < last; pointers += 4)
    missing += gfs_missing_of_four(pointers);
  return missing + gfs_missing_of_four(last);
}

/* Are an array of pointers and its first `count` pointers all other than NULL? */
static inline bool gfs_all_given(const uint8_t *const *pointers, size_t count) {
  return pointers != NULL && (count == 0 || gfs_missing(pointers, count) == 0);
}

/* The same for the shards of an encoding. */
static inline bool gfs_shards_given(const gfsmith_codec *codec, const uint8_t *const *data,
                                    uint8_t *const *parity) {
  if (data == NULL || parity == NULL)
    return false;
  size_t missing = gfs_missing(data, codec->k);
  return missing + gfs_missing((const uint8_t *const *)parity, codec->m) == 0;
}

#endif
