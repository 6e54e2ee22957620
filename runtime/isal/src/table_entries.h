/* table_entries.h: ISA-L's table entries, and their conversion to our kernels' formats.
 *
 * An entry has one of two forms. PRODUCTS: c * n at byte n, c * 16n at byte 16 + n. MATRICES: four
 * times the bit matrix of GFS_FORMAT_affine; ISA-L 2.31 and later writes and reads this form on
 * CPUs with GFNI and AVX2. Byte 0 distinguishes them: it is c * 0, or a row of the matrix, which is
 * 0 only if c is; then all bytes of both forms are 0. */
#ifndef GFS_ISAL_TABLE_ENTRIES_H
#define GFS_ISAL_TABLE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"
#include "tables.h"

/* Bytes of an entry. */
enum { GFS_ISAL_ENTRY = 32 };

/* By coefficient: its matrix in GFS_FORMAT_affine. */
extern const uint8_t gfs_isal_matrices[256][8];

typedef enum gfs_isal_form { GFS_ISAL_PRODUCTS, GFS_ISAL_MATRICES } gfs_isal_form;

static inline bool gfs_isal_is_matrices(const uint8_t *entry) { return entry[0] != 0; }

/* The form that kernels of an x86 instruction set read in place, if it has such kernels. */
static inline gfs_isal_form gfs_isal_form_of(const gfs_isa *isa) {
  return isa->format == GFS_FORMAT_affine ? GFS_ISAL_MATRICES : GFS_ISAL_PRODUCTS;
}

/* Has an entry of this form a coefficient that is not 0? */
static inline bool gfs_isal_has_form(gfs_isal_form form, const uint8_t *entry) {
  return form == GFS_ISAL_MATRICES ? entry[0] != 0 : entry[0] == 0 && entry[1] != 0;
}

/* A byte of an entry of this form that no other coefficient has. */
static inline uint8_t gfs_isal_name(gfs_isal_form form, const uint8_t *entry) {
  return entry[form == GFS_ISAL_MATRICES ? 0 : 1];
}

/* The coefficient of an entry of either form: its product with 1, or the first column. */
static inline uint8_t gfs_isal_coefficient(const uint8_t *entry) {
  if (!gfs_isal_is_matrices(entry))
    return entry[1];
  unsigned c = 0;
  for (unsigned row = 0; row < 8; row++)
    c |= (entry[7 - row] & 1u) << row;
  return (uint8_t)c;
}

/* Is c the coefficient of the entry? */
static inline bool gfs_isal_has(const uint8_t *entry, uint8_t c) {
  return gfs_isal_is_matrices(entry) ? entry[0] == gfs_isal_matrices[c][0] : entry[1] == c;
}

/* Are all coefficients of these contiguous entries 1? */
static inline bool gfs_isal_all_ones(const uint8_t *entries, size_t count) {
  for (size_t n = 0; n < count; n++)
    if (!gfs_isal_has(entries + n * GFS_ISAL_ENTRY, 1))
      return false;
  return true;
}

/* Write the entry of coefficient c in the form PRODUCTS. */
void gfs_isal_products(uint8_t c, uint8_t *entry);

/* Write the entry of coefficient c in the form that ISA-L 2.32 has on a CPU with this instruction
 * set as its best; NULL: on one without any. */
void gfs_isal_entry(const gfs_isa *isa, uint8_t c, uint8_t *entry);

/* Do rows of `inputs` entries, `stride` entries apart, begin with entries of this form? Of a row,
 * only the entries up to the first that is not 0 are read. */
bool gfs_isal_rows_are(gfs_isal_form form, const uint8_t *entries, size_t stride, size_t inputs,
                       size_t outputs);

/* Write the tables of `outputs` rows of `inputs` entries, rows being `stride` entries apart, in the
 * kernels' format: source by source, inputs * outputs * gfs_tables_entry(format) bytes. */
void gfs_isal_gather(gfs_format format, const uint8_t *entries, size_t stride, size_t inputs,
                     size_t outputs, uint8_t *tables);

#endif
