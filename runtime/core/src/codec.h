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
bool gfs_length_valid(const gfsmith_codec *codec, size_t len);

/* Are an array of pointers and its first `count` pointers all other than NULL? */
bool gfs_all_given(const uint8_t *const *pointers, unsigned count);

#endif
