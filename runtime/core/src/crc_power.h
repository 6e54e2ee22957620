/* crc_power.h: groups of 16 bytes in a vector of POWER8, for crc_kernels.inc, in either byte order.
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

/* The place of a word among the two of a vector, and the word at a place. */
#ifdef __LITTLE_ENDIAN__
#define GFS_VPMSUMD_PLACE(word) (word)
#else
#define GFS_VPMSUMD_PLACE(word) (1 - (word))
#endif

/* A group that is 0 but for its word `to`, which is a word of another group. */
#define GFS_VPMSUMD_SOURCE(place, word, to)                                                        \
  (GFS_VPMSUMD_PLACE(place) == (to) ? GFS_VPMSUMD_PLACE(word) : 2)
#define GFS_VPMSUMD_MOVED(group, word, to)                                                         \
  GFS_VPMSUMD_SHUFFLED(group, ((gfs_vpmsumd_group){0, 0}), GFS_VPMSUMD_SOURCE(0, word, to),        \
                       GFS_VPMSUMD_SOURCE(1, word, to))

GFS_VPMSUMD_TARGET
static GFS_INLINED gfs_vpmsumd_group gfs_vpmsumd_reversed(gfs_vpmsumd_group group) {
  gfs_vpmsumd_bytes bytes = (gfs_vpmsumd_bytes)group;
  return (gfs_vpmsumd_group)GFS_VPMSUMD_SHUFFLED(bytes, bytes, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6,
                                                 5, 4, 3, 2, 1, 0);
}

/* Compilers make one instruction of two reversals. */
GFS_VPMSUMD_TARGET
static GFS_INLINED gfs_vpmsumd_group gfs_vpmsumd_load(const uint8_t *from) {
  gfs_vpmsumd_group group;
  memcpy(&group, from, sizeof group);
#ifdef __LITTLE_ENDIAN__
  return group;
#else
  return gfs_vpmsumd_reversed(group);
#endif
}

GFS_VPMSUMD_TARGET
static GFS_INLINED void gfs_vpmsumd_store(uint8_t *to, gfs_vpmsumd_group group) {
#ifndef __LITTLE_ENDIAN__
  group = gfs_vpmsumd_reversed(group);
#endif
  memcpy(to, &group, sizeof group);
}

GFS_VPMSUMD_TARGET
static GFS_INLINED gfs_vpmsumd_group gfs_vpmsumd_words(const uint64_t words[2]) {
  gfs_vpmsumd_group group;
  memcpy(&group, words, sizeof group);
  return GFS_VPMSUMD_SHUFFLED(group, group, GFS_VPMSUMD_PLACE(0), GFS_VPMSUMD_PLACE(1));
}

GFS_VPMSUMD_TARGET
static GFS_INLINED gfs_vpmsumd_group gfs_vpmsumd_pair(uint64_t low, uint64_t high) {
  gfs_vpmsumd_group group = {low, high};
  return GFS_VPMSUMD_SHUFFLED(group, group, GFS_VPMSUMD_PLACE(0), GFS_VPMSUMD_PLACE(1));
}

#endif
