/* planes.h: words of 16 and 32 bits, split into byte planes for the kernels, and joined again. */
#ifndef GFS_JERASURE_PLANES_H
#define GFS_JERASURE_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* Byte p of each of `count` words of `bytes` bytes (2 or 4) goes to planes[p * stride]. */
void gfs_jerasure_split(const uint8_t *words, unsigned bytes, size_t count, uint8_t *planes,
                        size_t stride);

/* The reverse. */
void gfs_jerasure_join(const uint8_t *planes, size_t stride, unsigned bytes, size_t count,
                       uint8_t *words);

#endif
