#include "tables.h"

#include <string.h>

size_t gfs_tables_entry(gfs_format format) {
  switch (format) {
  case GFS_FORMAT_nibble:
  case GFS_FORMAT_permxor:
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

static void fill_nibble(const gfs_field *field, uint8_t c, uint8_t *entry) {
  for (unsigned n = 0; n < 16; n++) {
    entry[n] = gfs_field_mul(field, c, (uint8_t)n);
    entry[16 + n] = gfs_field_mul(field, c, (uint8_t)(n << 4));
  }
}

static void fill_permxor(const gfs_field *field, uint8_t c, uint8_t *entry) {
  uint8_t straight[32];
  fill_nibble(field, c, straight);
  for (unsigned n = 0; n < 32; n++)
    entry[n ^ 7] = straight[n];
}

static void fill_bitplane(const gfs_field *field, uint8_t c, uint8_t *entry) {
  for (unsigned bit = 0; bit < 8; bit++)
    entry[bit] = gfs_field_mul(field, c, (uint8_t)(1u << bit));
}

static void fill_affine(const gfs_field *field, uint8_t c, uint8_t *entry) {
  memset(entry, 0, 8);
  for (unsigned column = 0; column < 8; column++) {
    unsigned image = gfs_field_mul(field, c, (uint8_t)(1u << column));
    for (unsigned row = 0; row < 8; row++)
      entry[7 - row] |= (uint8_t)((image >> row & 1) << column);
  }
}

void gfs_tables_fill(gfs_format format, const gfs_field *field, uint8_t c, uint8_t *entry) {
  switch (format) {
  case GFS_FORMAT_nibble:
    fill_nibble(field, c, entry);
    break;
  case GFS_FORMAT_permxor:
    fill_permxor(field, c, entry);
    break;
  case GFS_FORMAT_bitplane:
    fill_bitplane(field, c, entry);
    break;
  case GFS_FORMAT_affine:
    fill_affine(field, c, entry);
    break;
  case GFS_FORMAT_mulb:
    memset(entry, c, 8);
    break;
  case GFS_FORMAT_none:
    break;
  }
}
