/* punctured.h: a code without its missing shards (a punctured code), in systematic form.
 *
 * k of the present shards, or fewer, have the role of data, and the others, the spare ones, that of
 * parities:  parity[i] = sum over j of matrix[i][j] * data[j].  If no shard is missing, it is the
 * code itself. */
#ifndef GFS_PUNCTURED_H
#define GFS_PUNCTURED_H

#include "codec.h"
#include "loss.h"
#include "syndrome.h"

typedef struct gfs_punctured {
  gfs_shards data, parity; /* the codec's indices of the shards with these roles */
  gfs_equations equations;
  const gfs_map *map; /* parities from data */
  gfs_map *own_map;   /* NULL, as the matrix, if it is the codec's */
  uint8_t *own_matrix;
} gfs_punctured;

/* The code of all shards; it needs no gfs_punctured_free. */
void gfs_punctured_whole(gfs_punctured *out, const gfsmith_codec *codec);

/* The code without the missing shards, fewer than m. Errors: GFSMITH_ENOMEM; GFSMITH_EUNSUPPORTED
 * (no shard determines another; no kernels). */
gfsmith_status gfs_punctured_create(gfs_punctured *out, const gfsmith_codec *codec,
                                    const gfs_loss *loss);

void gfs_punctured_free(gfs_punctured *code);

/* The codec's index of a shard of the code. */
unsigned gfs_punctured_shard(const gfs_punctured *code, unsigned n);

/* The syndromes of `len` positions from `offset` on. False if all are 0. Otherwise row i is written
 * from s + i * pitch on, and wrong[b] is 0 exactly if the syndrome of position offset + b is. */
bool gfs_punctured_syndromes(const gfs_punctured *code, gfs_path path, size_t offset, size_t len,
                             const uint8_t *const *shards, uint8_t *s, size_t pitch,
                             uint8_t *wrong);

#endif
