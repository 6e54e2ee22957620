/* grs.h: generalised Reed-Solomon codes, and their decoder.
 *
 * The equations of a systematic code, of n = k + m shards, define a generalised Reed-Solomon code
 * if other equations, equivalent to them, have the coefficients  g_n * z_n^l,  l < m, with distinct
 * points z_n and factors g_n other than 0. That is so exactly if the parity matrix is a Cauchy
 * matrix up to factors of its rows and columns and up to a point at infinity (R. M. Roth,
 * G. Seroussi, IEEE Trans. IT 31, 1985). */
#ifndef GFS_GRS_H
#define GFS_GRS_H

#include "gfsmith.h"
#include "syndrome.h"

typedef struct gfs_grs {
  const gfs_field *field;
  unsigned k, m;
  uint8_t point[GFSMITH_MAX_SHARDS]; /* z_n, never 0 */
  uint8_t factor[GFSMITH_MAX_SHARDS];
} gfs_grs;

/* The error of one shard at a byte position. */
typedef struct gfs_error {
  uint8_t shard, value;
} gfs_error;

/* Find the points and factors of a code with m >= 2; false if it is no such code. */
bool gfs_grs_find(gfs_grs *grs, const gfs_equations *equations);

/* Explain a non-zero syndrome s[i * pitch], i < m (syndrome.h), by the fewest wrong shards. Return
 * their number, at most m / 2, with their errors; 0 if no m / 2 or fewer shards explain it. The
 * errors, if any, give exactly this syndrome. */
unsigned gfs_grs_decode(const gfs_grs *grs, const uint8_t *s, size_t pitch, gfs_error *errors);

#endif
