#include "cells.h"

#include "dispatch.h"
#include "gfsmith.h"
#include "path.h"

_Static_assert(GFS_ISAS <= 32, "five bits");

/* Slots that may hold a key: from its hash on, with wraparound. */
enum { CELL_PROBES = 16 };

/* Lengths from 2^LEAST to below 2^(MOST + 1) have classes of their own; those of batch calls, at
 * most gfs_next_stripe_bytes() for two shards at least, to below 2^(BATCHED + 1). */
enum { LOG_LEAST = 5, LOG_MOST = 22, LOG_BATCHED = 18 };
enum { BATCHED_AT = (LOG_MOST - LOG_LEAST + 1) * 4 };
_Static_assert(BATCHED_AT + (LOG_BATCHED - LOG_LEAST + 1) * 4 <= 128, "seven bits");
_Static_assert(GFS_OWN_CACHE_MOST / 2 / 2 < (size_t)2 << LOG_BATCHED, "the longest batched shard");

uint32_t gfs_key_map(unsigned isa, unsigned inputs, unsigned outputs, bool known) {
  unsigned shards = inputs + outputs; /* pairs are numbered by their sum, then by outputs */
  return isa << GFS_KEY_ISA_AT | (shards * (shards - 1) / 2 + outputs) << GFS_KEY_SHAPE_AT |
         (known ? GFS_KEY_KNOWN : 0u);
}

/* The highest bit set; n > 0. */
static unsigned log_of(size_t n) {
#if defined(__GNUC__) || defined(__clang__)
  return 63u - (unsigned)__builtin_clzll(n);
#else
  unsigned log = 0;
  while (n >>= 1)
    log++;
  return log;
#endif
}

uint32_t gfs_key_length(size_t len, unsigned page, bool batched) {
  unsigned log = log_of(len);
  unsigned half = log > 0 ? (unsigned)(len >> (log - 1) & 1) : 0;
  if (log < LOG_LEAST)
    log = LOG_LEAST;
  if (log > LOG_MOST)
    log = LOG_MOST;
  uint32_t key = (log - LOG_LEAST) * 4 + half * 2 + ((len & (page - 1)) == 0);
  if (batched)
    key += BATCHED_AT;
  return key << GFS_KEY_LENGTH_AT;
}

uint32_t gfs_key_threads(unsigned threads) {
  unsigned key = threads <= 1 ? 0 : log_of(threads - 1) + 1;
  return (uint32_t)(key < 7 ? key : 7) << GFS_KEY_THREADS_AT;
}

/* The multiplier is 2^32 over the golden ratio (Knuth vol. 3, 6.4). */
static unsigned home_of(uint32_t key) { return key * UINT32_C(0x9e3779b9) >> 21; }
_Static_assert(GFS_CELLS == 1 << 11, "eleven bits of a hash");

gfs_cell *gfs_cells_find(gfs_cells *cells, uint32_t key) {
  unsigned home = home_of(key);
  for (unsigned n = 0; n < CELL_PROBES; n++) {
    gfs_cell *cell = &cells->cell[(home + n) % GFS_CELLS];
    uint32_t there = atomic_load_explicit(&cell->key, memory_order_acquire);
    if (there == key)
      return cell;
    if (there == 0)
      return NULL;
  }
  return NULL;
}

gfs_cell *gfs_cells_make(gfs_cells *cells, uint32_t key, uint32_t policy, bool *made) {
  unsigned home = home_of(key);
  *made = false;
  for (unsigned n = 0; n < CELL_PROBES; n++) {
    gfs_cell *cell = &cells->cell[(home + n) % GFS_CELLS];
    uint32_t there = 0;
    if (atomic_compare_exchange_strong(&cell->key, &there, key)) {
      /* Until then the policy is 0, that is, `default`. */
      atomic_store_explicit(&cell->policy, policy, memory_order_relaxed);
      *made = true;
      return cell;
    }
    if (there == key)
      return cell;
  }
  return NULL;
}
