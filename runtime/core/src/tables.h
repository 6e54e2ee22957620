/* tables.h: the formats in which kernels read coefficients. */
#ifndef GFS_TABLES_H
#define GFS_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "field.h"

typedef enum gfs_format {
  GFS_FORMAT_none,     /* nothing: all coefficients are 1 */
  GFS_FORMAT_bitplane, /* 8 bytes: byte b = c * 2^b */
  GFS_FORMAT_nibble,   /* 32 bytes: byte n = c * n and byte 16 + n = c * (n << 4), n < 16 */
  GFS_FORMAT_permxor,  /* 32 bytes: those of nibble, byte n at n ^ 7 (POWER, lxvd2x and vpermxor) */
  GFS_FORMAT_affine,   /* 8 bytes: byte 7 - i = row i of the matrix of x -> c * x, bit b = column b
                          (Intel SDM, GF2P8AFFINEQB) */
  GFS_FORMAT_isal, /* 32 bytes: those of affine four times; entries row by row (only the drop-in for
                      ISA-L uses these kernels) */
  GFS_FORMAT_isal_nibble, /* 32 bytes: those of nibble; the same */
  GFS_FORMAT_mulb         /* 8 bytes: c, repeated (0x11b only); no codec uses these kernels */
} gfs_format;

enum { GFS_ENTRY_MAX = 32 /* most bytes of an entry */ };

/* The size of one coefficient's entry in bytes. */
size_t gfs_tables_entry(gfs_format format);

/* Write the entry of the linear map of bytes whose column b is the image of 1 << b:
 * gfs_tables_entry(format) bytes. Of the format mulb, the map must be a product by an element. */
void gfs_tables_fill_map(gfs_format format, const uint8_t *column, uint8_t *entry);

/* The same for the product by coefficient c. */
void gfs_tables_fill(gfs_format format, const gfs_field *field, uint8_t c, uint8_t *entry);

#endif
