/* crc_power.h: groups of 16 bytes in a vector of POWER8, for crc_kernels.inc, little endian.
 *
 * A group is a number of 128 bits whose lowest byte is the first in memory, and word 0 its lower
 * half. vpmsumd adds the products of both halves of two registers. */
#ifndef GFS_CRC_POWER_H
#define GFS_CRC_POWER_H

#include <stdint.h>
#include <string.h>

#include "inlining.h"

typedef unsigned long long gfs_vpmsumd_group __attribute__((vector_size(16)));
typedef unsigned char gfs_vpmsumd_bytes __attribute__((vector_size(16)));

#ifdef __clang__
#define GFS_VPMSUMD_TARGET __attribute__((target("power8-vector")))
#define GFS_VPMSUMD(a, b) __builtin_altivec_crypto_vpmsumd(a, b)
#define GFS_VPMSUMD_SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define GFS_VPMSUMD_TARGET __attribute__((target("cpu=power8")))
#define GFS_VPMSUMD(a, b) __builtin_crypto_vpmsumd(a, b)
#define GFS_VPMSUMD_SHUFFLED(a, b, ...) __builtin_shuffle(a, b, (__typeof__(a)){__VA_ARGS__})
#endif

/* A group that is 0 but for its word `to`, which is a word of another group. */
#define GFS_VPMSUMD_MOVED(group, word, to)                                                         \
  GFS_VPMSUMD_SHUFFLED(group, ((gfs_vpmsumd_group){0, 0}), (to) == 0 ? (word) : 2,                 \
                       (to) == 1 ? (word) : 2)

GFS_VPMSUMD_TARGET
static GFS_INLINED gfs_vpmsumd_group gfs_vpmsumd_reversed(gfs_vpmsumd_group group) {
  gfs_vpmsumd_bytes bytes = (gfs_vpmsumd_bytes)group;
  return (gfs_vpmsumd_group)GFS_VPMSUMD_SHUFFLED(bytes, bytes, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6,
                                                 5, 4, 3, 2, 1, 0);
}

GFS_VPMSUMD_TARGET
static GFS_INLINED gfs_vpmsumd_group gfs_vpmsumd_load(const uint8_t *from) {
  gfs_vpmsumd_group group;
  memcpy(&group, from, sizeof group);
  return group;
}

GFS_VPMSUMD_TARGET
static GFS_INLINED void gfs_vpmsumd_store(uint8_t *to, gfs_vpmsumd_group group) {
  memcpy(to, &group, sizeof group);
}

#endif
