/* crc_shards.h: the checksums of the shards of a call, which advance piece by piece.
 *
 * Between pieces a shard has an unreduced message of one line (docs/checksums.md), so that a piece
 * costs no reduction. Without a carry-less multiplication it has its checksum so far. */
#ifndef GFS_CRC_SHARDS_H
#define GFS_CRC_SHARDS_H

#include <stdalign.h>

#include "crc.h"
#include "gfsmith.h"
#include "gfsmith_checksum.h"

/* Shards are numbered in the order in which the call reads and writes them. */
typedef struct gfs_crc_shards {
  alignas(GFS_CRC_LINE) uint8_t message[GFSMITH_MAX_SHARDS][GFS_CRC_LINE];
  uint64_t *state[GFSMITH_MAX_SHARDS]; /* of the caller; written with the last piece */
  const gfs_crc *crc;
  const gfs_crc_set *set;
  size_t len;       /* bytes of every shard in this call */
  bool folded;      /* messages instead of checksums */
  unsigned stepped; /* the first shards, of which gfs_crc_encode_steps have registers */
} gfs_crc_shards;

/* The same piece of consecutive shards. Pieces follow each other, and their lengths are multiples
 * of GFS_CRC_LINE, except that of the last one. */
typedef struct gfs_crc_row {
  unsigned first, count;
  const uint8_t *const *data; /* `count` addresses of the piece */
  uint8_t *const *copy; /* NULL, or multiples of GFS_CRC_LINE to which the piece is copied by stores
                           around the cache; its length is a multiple then */
  size_t start, len;    /* the piece in a shard */
  size_t ahead;         /* distance of the bytes that are prefetched; 0: none */
} gfs_crc_row;

/* Begin a call on shards of len bytes; `states` are those of the caller, k + m for each stripe.
 * Errors: GFSMITH_EINVAL (an unknown check; with len > 0, states NULL; a state beyond its bits; for
 * T10 a length that is no multiple of the smallest sector). */
gfsmith_status gfs_crc_shards_begin(gfs_crc_shards *shards, gfsmith_checksum kind, size_t len,
                                    size_t count, const uint64_t *states);

/* Number `count` shards from `first` on. index: their places in `states`; NULL: first, ... */
void gfs_crc_shards_number(gfs_crc_shards *shards, unsigned first, unsigned count,
                           const uint8_t *index, uint64_t *states);

/* Can pieces be copied? */
static inline bool gfs_crc_shards_copy(const gfs_crc_shards *shards) {
  return shards->folded && shards->set->fold_copy[shards->crc->order] != NULL;
}

/* The function that encodes `outputs` shards of `inputs` and folds all of them in one loop; NULL:
 * none. It has the pieces between the first one and the last, whose rows begin and finish. */
gfs_crc_encode *gfs_crc_shards_encode(gfs_crc_shards *shards, unsigned inputs, unsigned outputs);

/* Advance whole shards in a pass of their own. */
void gfs_crc_shards_update(const gfs_crc_shards *shards, unsigned first, unsigned count,
                           const uint8_t *const *data);

/* Advance shards by a piece. */
void gfs_crc_shards_add(gfs_crc_shards *shards, const gfs_crc_row *row);

#endif
