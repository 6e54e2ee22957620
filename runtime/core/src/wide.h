/* wide.h: gfsmith_wide, Leopard's codes, that of reed-solomon-simd, and lch16. Points are numbered
 * by their coefficients in Cantor's basis and divided into blocks of a power of two.
 *
 * If the parities come first, block 0 has the parities and the following blocks the data; a block
 * has n = the least power of two >= m points. The points behind the data have the value 0; those of
 * block 0 behind the parities are never known.
 *
 * If the data come first, block 0 has the data and the following blocks the parities, and n is the
 * least power of two >= k. The points of block 0 behind the data have the value 0; those behind the
 * parities are never known. */
#ifndef GFS_WIDE_H
#define GFS_WIDE_H

#include "cantor.h"
#include "gfsmith_wide.h"
#include "products.h"
#include "transform.h"
#include "wide_rows.h"

typedef struct gfs_wide_code {
  const char *name;
  unsigned width, polynomial;
  unsigned granule; /* the length of every shard is a multiple of so many bytes */
  gfs_wide_layout layout;
  bool may_swap; /* the data come first if that makes the blocks smaller */
  const char *shapes;
} gfs_wide_code;

struct gfsmith_wide {
  const gfs_wide_code *code;
  unsigned k, m;
  bool data_first;
  unsigned block;  /* points of a block */
  unsigned points; /* the least power of two >= block + the shards behind block 0 */
  gfs_cantor field;
  uint32_t *spectra; /* of logarithms (locator.h), twice as many numbers as points */
  gfs_transform transform;
  gfs_products to_rows, to_shards; /* of shards, with results in the basis of rows, and back */
};

/* The least power of two >= least. */
static inline unsigned gfs_wide_power_of_two(unsigned least) {
  unsigned power = 1;
  while (power < least)
    power *= 2;
  return power;
}

/* The number of shards in the blocks behind block 0. */
static inline unsigned gfs_wide_shards_behind(const gfsmith_wide *wide) {
  return wide->data_first ? wide->m : wide->k;
}

#endif
