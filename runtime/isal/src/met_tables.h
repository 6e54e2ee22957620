/* met_tables.h: the tables of known matrices that calls have met, so that a short call compares
 * its tables with those of one matrix.
 *
 * For each number of sources and outputs the first known matrix is kept until the program ends.
 * Calls with another matrix of this shape do not look for it up to GFS_ISAL_UNSEARCHED bytes of a
 * shard.
 */
#ifndef GFS_ISAL_MET_TABLES_H
#define GFS_ISAL_MET_TABLES_H

#include <stdatomic.h>
#include <string.h>

#include "dispatch.h"
#include "table_entries.h"

/* The most sources, outputs and coefficients of a matrix that is kept, and the number of those. */
enum { GFS_ISAL_MET_INPUTS = 32, GFS_ISAL_MET_OUTPUTS = 8, GFS_ISAL_MET_ENTRIES = 64 };
enum { GFS_ISAL_MET_TABLES = 8 };

/* The state of a shape: no call has looked for a known matrix yet; 1 to GFS_ISAL_MET_TABLES: the
 * number of its table; a call has looked for one and found none. */
enum { GFS_ISAL_MET_NOTHING = 0, GFS_ISAL_MET_IN_VAIN = 255 };

typedef struct gfs_isal_table {
  gfsmith_kernel *kernel[GFS_PATH_second + 1]; /* of the known matrix, by path */
  uint64_t matrices[GFS_ISAL_MET_ENTRIES];     /* the first copy of each entry */
} gfs_isal_table;

extern gfs_isal_table gfs_isal_met_tables[GFS_ISAL_MET_TABLES];
extern _Atomic(unsigned char) gfs_isal_met_shapes[GFS_ISAL_MET_OUTPUTS + 1]
                                                 [GFS_ISAL_MET_INPUTS + 1];

/* The state of a shape, with outputs from 1 to GFS_ISAL_MET_OUTPUTS. */
static inline unsigned gfs_isal_met(size_t inputs, size_t outputs) {
  return inputs <= GFS_ISAL_MET_INPUTS
             ? atomic_load_explicit(&gfs_isal_met_shapes[outputs][inputs], memory_order_acquire)
             : GFS_ISAL_MET_IN_VAIN;
}

static inline uint64_t gfs_isal_first_copy(const uint8_t *entry) {
  uint64_t matrix;
  memcpy(&matrix, entry, sizeof matrix);
  return matrix;
}

/* The bits in which entry n differs from a table. */
static inline uint64_t gfs_isal_differ(const uint8_t *entries, const uint64_t *matrices, size_t n) {
  return gfs_isal_first_copy(entries + n * GFS_ISAL_ENTRY) ^ matrices[n];
}

/* The kernel of the matrix of a shape in this state (gfs_isal_met) for a path in cache, if there is
 * one and these are its `count` entries; else NULL. Four at a time, because a short call takes
 * little longer than the comparison, and with an exit for each, because a comparison and its jump
 * are one operation. */
static inline gfsmith_kernel *gfs_isal_met_kernel(unsigned met, const uint8_t *entries,
                                                  size_t count, gfs_path path) {
  if (met - 1 >= GFS_ISAL_MET_TABLES)
    return NULL;
  const gfs_isal_table *table = &gfs_isal_met_tables[met - 1];
  const uint64_t *matrices = table->matrices;
  const uint64_t *end = matrices + count;
  for (; end - matrices >= 4; matrices += 4, entries += 4 * GFS_ISAL_ENTRY)
    if (gfs_isal_differ(entries, matrices, 0) != 0 || gfs_isal_differ(entries, matrices, 1) != 0 ||
        gfs_isal_differ(entries, matrices, 2) != 0 || gfs_isal_differ(entries, matrices, 3) != 0)
      return NULL;
  for (; matrices != end; matrices++, entries += GFS_ISAL_ENTRY)
    if (gfs_isal_differ(entries, matrices, 0) != 0)
      return NULL;
  return table->kernel[path];
}

/* Keep the known matrix of these entries, which have the form that kernels read; kernel: its kernel
 * for each path in cache, or NULL if they are no known matrix. */
void gfs_isal_meet(const uint8_t *entries, size_t inputs, size_t outputs,
                   gfsmith_kernel *const *kernel);

#endif
