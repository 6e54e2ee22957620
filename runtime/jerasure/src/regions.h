/* regions.h: linear maps of regions of bytes, words of a field one after another. */
#ifndef GFS_JERASURE_REGIONS_H
#define GFS_JERASURE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "word.h"

/* dst[i] = (or, with add, +=) sum over j of matrix[i * inputs + j] * src[j]: `size` bytes each,
 * words of the width of the field, little endian. No destination overlaps a source. */
typedef struct gfs_jerasure_map {
  gf_t *field;
  unsigned width; /* 8, 16 or 32 */
  unsigned inputs, outputs;
  const int *matrix;
  bool add;
} gfs_jerasure_map;

void gfs_jerasure_apply(const gfs_jerasure_map *map, const uint8_t *const *src, uint8_t *const *dst,
                        size_t size);

/* dest = (or +=) by * src. src may be dest. */
void gfs_jerasure_multiply_region(gf_t *field, uint32_t by, const uint8_t *src, uint8_t *dest,
                                  size_t size, bool add);

/* dst = sum of src[0], ..., src[count - 1]; count > 0, and none of them overlaps dst. */
void gfs_jerasure_sum(size_t size, unsigned count, const uint8_t *const *src, uint8_t *dst);

/* dst += src. */
void gfs_jerasure_add(size_t size, const uint8_t *src, uint8_t *dst);

#endif
