/* grids.h: the shards of many stripes in one array, taken from a Python object without copying.
 *
 * The dimensions of the array are stripes, shards and bytes; the bytes of a shard are contiguous.
 * The buffer stays exported until grid_close. All functions need the GIL, and those that return
 * bool fail as in shards.h.
 */
#ifndef GFS_PYTHON_GRIDS_H
#define GFS_PYTHON_GRIDS_H

#include "gfsmith.h"
#include "shards.h"

/* Shard i of stripe s begins at base + s * stride.stripe + i * stride.shard. */
typedef struct grid {
  const char *name;
  uint8_t *base;
  Py_ssize_t count, shards, len;
  gfsmith_stride stride;
  Py_buffer view; /* obj is NULL: none */
} grid;

/* Take an array of stripes with this number of shards. If the call writes to it, distances are at
 * least the length of a shard. `g` is zeroed, and grid_close must follow in any case. */
bool grid_open(grid *g, PyObject *object, const char *name, unsigned shards, use use);

/* The same for an array of two dimensions, with one shard for each stripe. */
bool grid_open_single(grid *g, PyObject *object, const char *name, use use);

void grid_close(grid *g);

/* The addresses of all shards, stripe after stripe; none if the shards have no bytes. PyMem_Free
 * frees them. NULL: an exception is set. */
uint8_t **grid_pointers(const grid *g);

/* Have the arrays equal numbers of stripes, and equal lengths of shards? */
bool grids_match(const grid *g, const grid *first);

/* Are the shards of an array disjoint? */
bool grid_apart(const grid *g);

/* Are the shards of a written array disjoint, also from those of another array? */
bool grids_apart(const grid *written, const grid *other);

#endif
