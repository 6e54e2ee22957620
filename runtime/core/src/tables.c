#include "tables.h"

#include <string.h>

size_t gfs_tables_entry(gfs_format format) {
  switch (format) {
  case GFS_FORMAT_nibble:
  case GFS_FORMAT_permxor:
  case GFS_FORMAT_isal:
  case GFS_FORMAT_isal_nibble:
    return 32;
  case GFS_FORMAT_bitplane:
  case GFS_FORMAT_affine:
  case GFS_FORMAT_mulb:
    return 8;
  case GFS_FORMAT_none:
    break;
  }
  return 0;
}

/* Write the images of 0, 1, .. 15, from the images of 1, 2, 4 and 8. */
static void fill_half(const uint8_t *column, uint8_t *images) {
  images[0] = 0;
  for (unsigned bit = 0; bit < 4; bit++)
    for (unsigned n = 0; n < 1u << bit; n++)
      images[(1u << bit) + n] = images[n] ^ column[bit];
}

static void fill_nibble(const uint8_t *column, uint8_t *entry) {
  fill_half(column, entry);
  fill_half(column + 4, entry + 16);
}

static void fill_permxor(const uint8_t *column, uint8_t *entry) {
  uint8_t straight[32];
  fill_nibble(column, straight);
  for (unsigned n = 0; n < 32; n++)
    entry[n ^ 7] = straight[n];
}

static void fill_bitplane(const uint8_t *column, uint8_t *entry) {
  for (unsigned bit = 0; bit < 8; bit++)
    entry[bit] = column[bit];
}

/* Exchange the blocks of `size` x `size` bits above the diagonal of an 8 x 8 matrix with those
 * below it. upper: the bits of the blocks above it, moved to those below. */
static uint64_t swap_blocks(uint64_t matrix, unsigned size, uint64_t upper) {
  uint64_t changed = (matrix ^ matrix >> 7 * size) & upper;
  return matrix ^ changed ^ changed << 7 * size;
}

/* The bytes are the rows of the matrix, the last one first. */
static void fill_affine(const uint8_t *column, uint8_t *entry) {
  uint64_t matrix = 0;
  for (unsigned bit = 0; bit < 8; bit++)
    matrix |= (uint64_t)column[bit] << 8 * bit;
  matrix = swap_blocks(matrix, 1, UINT64_C(0x00aa00aa00aa00aa));
  matrix = swap_blocks(matrix, 2, UINT64_C(0x0000cccc0000cccc));
  matrix = swap_blocks(matrix, 4, UINT64_C(0x00000000f0f0f0f0));
  for (unsigned row = 0; row < 8; row++)
    entry[7 - row] = (uint8_t)(matrix >> 8 * row);
}

static void fill_isal(const uint8_t *column, uint8_t *entry) {
  for (unsigned copy = 0; copy < 4; copy++)
    fill_affine(column, entry + copy * 8u);
}

void gfs_tables_fill_map(gfs_format format, const uint8_t *column, uint8_t *entry) {
  switch (format) {
  case GFS_FORMAT_nibble:
  case GFS_FORMAT_isal_nibble:
    fill_nibble(column, entry);
    break;
  case GFS_FORMAT_permxor:
    fill_permxor(column, entry);
    break;
  case GFS_FORMAT_bitplane:
    fill_bitplane(column, entry);
    break;
  case GFS_FORMAT_affine:
    fill_affine(column, entry);
    break;
  case GFS_FORMAT_isal:
    fill_isal(column, entry);
    break;
  case GFS_FORMAT_mulb:
    memset(entry, column[0], 8);
    break;
  case GFS_FORMAT_none:
    break;
  }
}

void gfs_tables_fill(gfs_format format, const gfs_field *field, uint8_t c, uint8_t *entry) {
  uint8_t column[8] = {0};
  for (unsigned bit = 0; bit < 8; bit++)
    column[bit] = gfs_field_mul(field, c, (uint8_t)(1u << bit));
  gfs_tables_fill_map(format, column, entry);
}
