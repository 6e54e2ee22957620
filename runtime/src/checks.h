/* checks.h: what a loss leaves of a code's equations.
 *
 * A parity p = k + i of the code is the equation  shard[p] + sum over j of c[i][j] * shard[j] = 0.
 * A row here is such an equation or a sum of multiples of several: k + m coefficients, one for each
 * shard. Reduced by a loss, the equations of the present parities are of two kinds: one for each
 * missing data shard that they can be solved for (its pivot row, 0 at the other such shards), and
 * those that say something of present shards only, the spare ones. Lighter parities (fewer non-zero
 * coefficients), of equals the first, are solved before heavier ones, which so become spare. */
#ifndef GFS_CHECKS_H
#define GFS_CHECKS_H

#include "codec.h"
#include "loss.h"

typedef struct gfs_checks {
  const gfsmith_codec *codec;
  gfs_shards data;   /* missing data */
  gfs_shards parity; /* present parities, lightest first */
  unsigned reduced;  /* so many of these parities' equations were taken yet */
  gfs_shards pivot;  /* the missing data of the rows from the start of `row` on */
  unsigned spare;    /* rows at the end of `row` */
  uint8_t row[];     /* parity.count rows of k + m */
} gfs_checks;

/* Solve for the missing data: *out is to be freed. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_checks_create(gfs_checks **out, const gfsmith_codec *codec,
                                 const gfs_loss *loss);

/* Write a missing shard as a combination of present ones: k + m coefficients, 0 at missing shards.
 * False if it is not determined by the present ones; what is written is then of no use. */
bool gfs_checks_express(const gfs_checks *checks, unsigned shard, uint8_t *row);

/* How many spare rows there are: among so many more present shards than needed one has a choice. */
unsigned gfs_checks_spares(const gfs_checks *checks);

/* The spare rows, one after the other. */
const uint8_t *gfs_checks_spare_rows(gfs_checks *checks);

#endif
