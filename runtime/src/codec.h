/* codec.h: what a codec holds. */
#ifndef GFS_CODEC_H
#define GFS_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "dispatch.h"
#include "field.h"
#include "gfsmith.h"
#include "map.h"
#include "packets.h"
#include "repairs.h"
#include "update.h"

struct gfsmith_codec {
  gfs_field field;
  const gfs_isa *isa; /* repairs use the instruction set that encoding uses */
  gfs_map *encoder;
  gfs_adders *adders;        /* for every mad pass of the encoder */
  gfs_packets *packets;      /* NULL: shards are bytes of the field */
  gfs_repairs *repairs;      /* grows while the codec is used; all else stays as it was made */
  gfs_coordinator *adaptive; /* of the encoder and of plans to be made; NULL: none */
  gfsmith_hint hint;
  bool mds;     /* known for certain: any k shards determine the others */
  bool locates; /* one wrong shard can be told from any other */
  unsigned k;
  unsigned m;
  uint8_t matrix[]; /* m rows of k */
};

/* Is this a length that shards may have? */
bool gfs_length_valid(const gfsmith_codec *codec, size_t len);

/* Are an array of pointers and its first `count` pointers all other than NULL? */
bool gfs_all_given(const uint8_t *const *pointers, unsigned count);

/* Can one wrong shard be told from any other: is no column of the equations a multiple of another?
 */
bool gfs_columns_differ(const gfsmith_codec *codec);

#endif
