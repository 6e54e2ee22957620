/* cells.h: the policies found, by shape, length, number of threads and contention.
 *
 * The table has a fixed size. Cells are added but never removed, and lookups take no lock. Codecs
 * and repairs of one shape share a cell, so a new codec of a known shape needs no search. */
#ifndef GFS_CELLS_H
#define GFS_CELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy_search.h"

enum { GFS_CELLS = 2048 };

/* A cell's key contains: the instruction set (5 bits), inputs and outputs (15), the class of the
 * length and whether the call is a batch call (7), the class of the number of threads (3), high
 * contention (1), a known matrix (1). */
enum {
  GFS_KEY_KNOWN = 1 << 0,
  GFS_KEY_HIGH = 1 << 1,
  GFS_KEY_THREADS_AT = 2,
  GFS_KEY_LENGTH_AT = 5,
  GFS_KEY_SHAPE_AT = 12,
  GFS_KEY_ISA_AT = 27
};

/* A cell's driver contains: whether it works on the search at this moment (1 bit), its ticket (23),
 * the number of its process (8, gfs_coordinator_process). A thread never ends while it works. A
 * child after fork() has only one of the threads, however: the driver of another process is gone,
 * and its search may be inconsistent if it worked. */
enum { GFS_DRIVER_WORKS = 1, GFS_DRIVER_TICKET_AT = 1, GFS_DRIVER_PROCESS_AT = 24 };

/* Most tickets of a coordinator. */
enum { GFS_TICKETS_MAX = (1 << 23) - 1 };

static inline uint32_t gfs_driver_of(uint32_t process, uint32_t ticket) {
  return process << GFS_DRIVER_PROCESS_AT | ticket << GFS_DRIVER_TICKET_AT;
}

typedef struct gfs_cell gfs_cell;
struct gfs_cell {
  _Atomic uint32_t key;       /* 0: empty */
  _Atomic uint32_t policy;    /* current policy, packed */
  _Atomic uint32_t driver;    /* the thread that searches; 0: none */
  _Atomic uint32_t searches;  /* completed searches; 0: none, and the policy is a guess */
  _Atomic uint32_t rest_ms;   /* if searches > 0: time before which no search begins */
  _Atomic uint32_t seen_ms;   /* time of the driver's last timed call */
  _Atomic uint32_t review_ms; /* time from which the decision is reviewed; 0: never */
  /* The following members belong to the driver. */
  unsigned vain;   /* consecutive searches without a change */
  unsigned stood;  /* consecutive reviews without a change */
  bool reviewing;  /* is the current search a review? */
  uint32_t before; /* policy at the beginning of the search */
  uint32_t began_ms;
  gfs_policy_search search;
};

typedef struct gfs_cells {
  gfs_cell cell[GFS_CELLS];
} gfs_cells;

/* The parts of the key for the map and for the length. Lengths are classified by the power of two
 * below them, by whether they are nearer to the next one, and by whether they are multiples of a
 * page; batch calls, whose shards are short, have classes of their own. */
uint32_t gfs_key_map(unsigned isa, unsigned inputs, unsigned outputs, bool known);
uint32_t gfs_key_length(size_t len, unsigned page, bool batched);

/* Classes of numbers of threads: 1, 2, up to 4, 8, 16, 32, 64, more. */
uint32_t gfs_key_threads(unsigned threads);

/* The cell of a key; NULL if there is none. */
gfs_cell *gfs_cells_find(gfs_cells *cells, uint32_t key);

/* Add a cell for a key that has none, with an initial policy. *made: did this call add it, and not
 * another thread? NULL if the table is full. */
gfs_cell *gfs_cells_make(gfs_cells *cells, uint32_t key, uint32_t policy, bool *made);

#endif
