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

/* The kernels and tables of a short call of update with a single source. */
typedef struct gfs_short_update {
  size_t most;           /* bytes of a shard for which the call is one of a kernel in cache; or 0 */
  const uint8_t *tables; /* of the coefficients of all data shards */
  size_t column;         /* bytes of the tables of one data shard */
  gfsmith_kernel *set;   /* overwrites the parities */
  gfsmith_kernel *add;   /* adds to them */
} gfs_short_update;

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
  /* The most bytes of a shard for which a call of encode is one call of a kernel in cache; 0 if
   * none is. One comparison decides, here and for updates. */
  size_t short_encode;
  gfs_short_update short_update;
  bool mds;     /* proved: any k shards determine the others */
  bool locates; /* can a wrong shard be distinguished from any other? */
  unsigned k;
  unsigned m;
  uint8_t matrix[]; /* m rows of k */
};

/* Write short_encode and short_update. Must follow every change of the hint or the packets. */
void gfs_codec_find_short(gfsmith_codec *codec);

/* Is this a valid length of a shard? */
static inline bool gfs_length_valid(const gfsmith_codec *codec, size_t len) {
  return codec->packets == NULL || len % (GFS_PACKETS * codec->packets->packet) == 0;
}

/* Is one of `count` pointers NULL? */
bool gfs_any_missing(const uint8_t *const *pointers, size_t count);

static inline uintptr_t gfs_common_of_four(const uint8_t *const *pointers) {
  return (uintptr_t)pointers[0] & (uintptr_t)pointers[1] & (uintptr_t)pointers[2] &
         (uintptr_t)pointers[3];
}

/* The bits that are 1 in all of `count` pointers; count >= 1. If there is one, no pointer is NULL.
 * Pointers of a process have common bits as a rule, and this takes one instruction for each. There
 * are few branches, which would compete for the branch predictor: some pointers are read twice
 * instead of in a loop over the rest. */
static inline uintptr_t gfs_common_bits(const uint8_t *const *pointers, size_t count) {
  if (count < 4)
    return (uintptr_t)pointers[0] & (uintptr_t)pointers[count / 2] & (uintptr_t)pointers[count - 1];
  const uint8_t *const *last = pointers + (count - 4);
  uintptr_t common = gfs_common_of_four(last);
  for (; pointers < last; pointers += 4)
    common &= gfs_common_of_four(pointers);
  return common;
}

/* Are an array of pointers and its first `count` pointers all other than NULL? */
static inline bool gfs_all_given(const uint8_t *const *pointers, size_t count) {
  return pointers != NULL && !gfs_any_missing(pointers, count);
}

/* Are an array and count >= 1 pointers in it other than NULL, and do these have a common bit? If
 * not, a short call takes the general path, which compares each pointer. */
static inline bool gfs_clearly_given(const uint8_t *const *pointers, size_t count) {
  return pointers != NULL && gfs_common_bits(pointers, count) != 0;
}

#endif
