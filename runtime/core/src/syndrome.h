/* syndrome.h: the shard that explains a syndrome.
 *
 * The equations of the code (checks.h) applied to the shards of one byte position give the syndrome
 * s, m elements, 0 if no shard is wrong:
 *
 *     s[i] = parity[i] + sum over j of c[i][j] * data[j].
 *
 * If the shard with column h of the equations is wrong by e and all others are right, s = e * h. If
 * no column is a multiple of another, at most one shard explains a syndrome. */
#ifndef GFS_SYNDROME_H
#define GFS_SYNDROME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "field.h"

/* The equations of a code. */
typedef struct gfs_equations {
  const gfs_field *field;
  const uint8_t *matrix; /* m rows of k */
  unsigned k, m;
} gfs_equations;

/* Can one wrong shard be distinguished from any other, that is, is no column of the equations a
 * multiple of another?
 */
bool gfs_columns_differ(const gfs_equations *equations);

/* The shard that explains a non-zero syndrome, s[i * pitch]; `guess` is tried first. k + m if no
 * shard does. */
unsigned gfs_syndrome_culprit(const gfs_equations *equations, const uint8_t *s, size_t pitch,
                              unsigned guess);

/* The error of the shard that explains a syndrome: e with s = e * h. */
uint8_t gfs_syndrome_error(const gfs_equations *equations, unsigned shard, const uint8_t *s,
                           size_t pitch);

#endif
