/* checks.h: the equations of a code, reduced by a loss.
 *
 * A parity p = k + i of the code has the equation  shard[p] + sum over j of c[i][j] * shard[j] = 0.
 * A row is such an equation or a linear combination of several: k + m coefficients, one for each
 * shard. After reduction the equations of the present parities are of two kinds: a pivot row for
 * each missing data shard that can be solved for (it is 0 at the other such shards), and spare
 * rows, which contain present shards only. Parities with fewer non-zero coefficients (lighter ones)
 * are processed first, in the order of their indices if equal, so the heavier ones become spare. */
#ifndef GFS_CHECKS_H
#define GFS_CHECKS_H

#include "codec.h"
#include "loss.h"

typedef struct gfs_checks {
  const gfsmith_codec *codec;
  gfs_shards data;   /* missing data */
  gfs_shards parity; /* present parities, lightest first */
  unsigned reduced;  /* number of these parities whose equations have been processed */
  gfs_shards pivot;  /* the missing data of the pivot rows, which are the first rows */
  unsigned spare;    /* number of spare rows, which are the last rows */
  uint8_t row[];     /* parity.count rows of k + m */
} gfs_checks;

/* Solve for the missing data; *out must be freed. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_checks_create(gfs_checks **out, const gfsmith_codec *codec,
                                 const gfs_loss *loss);

/* Express a missing shard by present ones: k + m coefficients, 0 at missing shards. False if the
 * present shards do not determine it; the contents of the row are then undefined. */
bool gfs_checks_express(const gfs_checks *checks, unsigned shard, uint8_t *row);

/* The number of spare rows: the number of present shards in excess of those needed. */
unsigned gfs_checks_spares(const gfs_checks *checks);

/* The spare rows, contiguous. */
const uint8_t *gfs_checks_spare_rows(gfs_checks *checks);

#endif
