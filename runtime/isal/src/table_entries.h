/* table_entries.h: ISA-L's table entries, and their conversion to our kernels' formats. */
#ifndef GFS_ISAL_TABLE_ENTRIES_H
#define GFS_ISAL_TABLE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables.h"

/* Bytes of an entry: c * n at byte n, c * 16n at byte 16 + n. */
enum { GFS_ISAL_ENTRY = 32 };

/* The coefficient of an entry. */
static inline uint8_t gfs_isal_coefficient(const uint8_t *entry) { return entry[1]; }

/* Are all coefficients of these contiguous entries 1? */
static inline bool gfs_isal_all_ones(const uint8_t *entries, size_t count) {
  for (size_t n = 0; n < count; n++)
    if (gfs_isal_coefficient(entries + n * GFS_ISAL_ENTRY) != 1)
      return false;
  return true;
}

/* Write the entry of coefficient c. */
void gfs_isal_entry(uint8_t c, uint8_t *entry);

/* Write the tables of `outputs` rows of `inputs` entries, rows being `stride` entries apart, in the
 * kernels' format: source by source, inputs * outputs * gfs_tables_entry(format) bytes. */
void gfs_isal_gather(gfs_format format, const uint8_t *entries, size_t stride, size_t inputs,
                     size_t outputs, uint8_t *tables);

#endif
