/* codes.h: the code families known by name. */
#ifndef GFS_CODES_H
#define GFS_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "field.h"

typedef struct gfs_code {
  const char *name;
  /* The shapes of the code: gfs_code_has. */
  unsigned most_k, least_m, most_m;
  /* Is the code MDS at this shape? NULL: at every shape. */
  bool (*is_mds)(unsigned k, unsigned m);
  /* The element in row i, column j of the parity matrix of k data and m parity shards, over 0x11d.
   */
  uint8_t (*element)(const gfs_field *field, unsigned k, unsigned m, unsigned i, unsigned j);
  /* Post-processing of the complete matrix; NULL: none. */
  void (*improve)(const gfs_field *field, unsigned k, unsigned m, uint8_t *matrix);
} gfs_code;

/* The family of this name or alias, or NULL. */
const gfs_code *gfs_code_find(const char *name);

/* Does the family have this shape? k and m are compared with their limits separately. */
bool gfs_code_has(const gfs_code *code, unsigned k, unsigned m);

#endif
