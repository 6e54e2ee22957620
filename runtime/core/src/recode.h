/* recode.h: repair with the kernels of the encoder.
 *
 * A dense repair of t shards takes t * k products for each byte of a shard. Kernels for a known
 * parity matrix P take far fewer for all parities together. With them a repair has two steps:
 *
 *     data:      a dense product for the lost data only; or, if P is a symmetric generalised Cauchy
 *                matrix, by syndromes: encode with 0 for the lost data and add the parities,
 *                multiply each sum by a constant, encode, multiply each result by a constant;
 *     parities:  encode.
 *
 * Cauchy matrices are symmetric if k = m is a power of two, for the codes cauchy, lch and backblaze
 * (docs/repair.md). */
#ifndef GFS_RECODE_H
#define GFS_RECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loss.h"
#include "map.h"
#include "syndrome.h"

typedef struct gfs_recode gfs_recode;

/* A repair of an MDS code as a dense product: the read shards, the targets, a row for each target,
 * and the map of these rows. */
typedef struct gfs_dense_repair {
  const gfs_isa *isa;
  const gfs_equations *code;
  const gfs_map *encoder;
  const gfs_shards *read;
  const gfs_shards *target;
  const uint8_t *matrix;
  const gfs_map *map;
} gfs_dense_repair;

/* Create the equivalent of a dense repair. *out = NULL with GFSMITH_OK: there is none, or the dense
 * one is faster. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_recode_create(gfs_recode **out, const gfs_dense_repair *dense);

/* The bytes of its memory; 0 for NULL. */
size_t gfs_recode_bytes(const gfs_recode *recode);

/* Is it faster than the dense repair for a call with this hint, number of shards that are read or
 * written, and length? False for NULL. */
bool gfs_recode_pays(const gfs_recode *recode, gfsmith_hint hint, unsigned shards, size_t len);

/* Rebuild: src are the read shards in order, dst the targets in order. */
void gfs_recode_apply(const gfs_recode *recode, size_t len, const uint8_t *const *src,
                      uint8_t *const *dst);

/* NULL is allowed. */
void gfs_recode_destroy(gfs_recode *recode);

#endif
