/* codes.h: the code families known by name. */
#ifndef GFS_CODES_H
#define GFS_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "field.h"

typedef struct gfs_code {
  const char *name;
  /* Is the code MDS at every shape for which this says so? */
  bool (*is_mds)(unsigned k, unsigned m);
  /* The element in row i, column j of the parity matrix of k data and m parity shards, over 0x11d.
   */
  uint8_t (*element)(const gfs_field *field, unsigned k, unsigned m, unsigned i, unsigned j);
  /* What is done to the matrix when all its elements are written; NULL: nothing. */
  void (*improve)(const gfs_field *field, unsigned k, unsigned m, uint8_t *matrix);
} gfs_code;

/* The family of this name, or NULL. */
const gfs_code *gfs_code_find(const char *name);

#endif
