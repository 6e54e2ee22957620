/* cells.h: what was learnt, by shape, length, number of threads and pressure.
 *
 * A fixed table: cells are filled and never emptied, and found without locks. Codecs and repairs of
 * one shape share a cell, so a shape that comes back needs no search. */
#ifndef GFS_CELLS_H
#define GFS_CELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hunt.h"

enum { GFS_CELLS = 2048 };

/* A cell's key has bits for: the instruction set (5), inputs and outputs (15), the class of the
 * length (7), the class of the number of threads (3), high pressure (1), a known matrix (1). */
enum {
  GFS_KEY_KNOWN = 1 << 0,
  GFS_KEY_HIGH = 1 << 1,
  GFS_KEY_THREADS_AT = 2,
  GFS_KEY_LENGTH_AT = 5,
  GFS_KEY_SHAPE_AT = 12,
  GFS_KEY_ISA_AT = 27
};

typedef struct gfs_cell gfs_cell;
struct gfs_cell {
  _Atomic uint32_t key;    /* 0: empty */
  _Atomic uint32_t policy; /* in force, packed */
  _Atomic uint32_t
      driver; /* the thread that searches: its ticket * 2, + 1 while it is at it; 0: none */
  _Atomic uint32_t searches;  /* that are over; 0: none was, and policy is a guess */
  _Atomic uint32_t rest_ms;   /* no search begins before then, if searches > 0 */
  _Atomic uint32_t seen_ms;   /* when the driver was there last */
  _Atomic uint32_t review_ms; /* from then on the decision is looked at again; 0: never */
  /* From here on the driver's. */
  unsigned vain;   /* searches in a row that changed nothing */
  unsigned stood;  /* reviews in a row that did not */
  bool reviewing;  /* is it a review that is on? */
  uint32_t before; /* the policy when the search began */
  uint32_t began_ms;
  gfs_hunt hunt;
};

typedef struct gfs_cells {
  gfs_cell cell[GFS_CELLS];
} gfs_cells;

/* The part of the key that a map has, and the part that the length has: the power of two below it,
 * whether it is nearer to the next, and whether it is a multiple of a page. */
uint32_t gfs_key_map(unsigned isa, unsigned inputs, unsigned outputs, bool known);
uint32_t gfs_key_length(size_t len, unsigned page);

/* Classes of numbers of threads: 1, 2, to 4, to 8, to 16, to 32, to 64, more. */
uint32_t gfs_key_threads(unsigned threads);

/* The cell of a key; NULL if there is none. */
gfs_cell *gfs_cells_find(gfs_cells *cells, uint32_t key);

/* Make the cell of a key that has none, with a policy to begin with. *made: by this call, not by
 * another thread. NULL if there is no room. */
gfs_cell *gfs_cells_make(gfs_cells *cells, uint32_t key, uint32_t policy, bool *made);

#endif
