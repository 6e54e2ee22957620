/* stream.h: stores around the cache, which do not read the lines that they replace. */
#ifndef GFS_STREAM_H
#define GFS_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sizes.h"

#if (defined(__x86_64__) || defined(_M_X64)) && defined(__GNUC__)
#include <immintrin.h>
#define GFS_STREAM_EXISTS 1
#else
#define GFS_STREAM_EXISTS 0 /* the functions use ordinary stores */
#endif

enum { GFS_STREAM_HALF = GFS_CACHE_LINE / 2 };

/* Copy half a line to the beginning or the middle of one. */
static inline void gfs_stream_half(uint8_t *to, const uint8_t *from) {
#if GFS_STREAM_EXISTS
  for (unsigned at = 0; at < GFS_STREAM_HALF; at += sizeof(__m128i))
    _mm_stream_si128((__m128i *)(void *)(to + at),
                     _mm_loadu_si128((const __m128i *)(const void *)(from + at)));
#else
  memcpy(to, from, GFS_STREAM_HALF);
#endif
}

/* Copy bytes between regions that do not overlap. Only complete lines of the destination are stored
 * around the cache. */
static inline void gfs_stream_copy(uint8_t *to, const uint8_t *from, size_t bytes) {
  size_t at = gfs_least(gfs_bytes_to_line(to), bytes);
  memcpy(to, from, at);
  for (; at + GFS_CACHE_LINE <= bytes; at += GFS_CACHE_LINE) {
    gfs_stream_half(to + at, from + at);
    gfs_stream_half(to + at + GFS_STREAM_HALF, from + at + GFS_STREAM_HALF);
  }
  memcpy(to + at, from + at, bytes - at);
}

/* The stores of results: ordinary ones, or around the cache, of quarters of a line or, with
 * AVX-512, of a line. */
typedef enum gfs_stream { GFS_STREAM_NONE, GFS_STREAM_QUARTERS, GFS_STREAM_LINES } gfs_stream;

/* In the static analysis vectors have no model. */
#if GFS_STREAM_EXISTS && !defined(__FRAMAC__)
#if defined(__clang__) && __clang_major__ >= 18 && __clang_major__ <= 21
/* These have a switch for vectors of 64 bytes, which zig cc turns off on its command line. */
#define GFS_STREAM_TARGET __attribute__((target("avx512f,evex512")))
#else
#define GFS_STREAM_TARGET __attribute__((target("avx512f")))
#endif

/* Copy whole lines to multiples of a line. */
GFS_STREAM_TARGET static inline void gfs_stream_lines(uint8_t *to, const uint8_t *from,
                                                      size_t bytes) {
  for (size_t at = 0; at < bytes; at += GFS_CACHE_LINE)
    _mm512_stream_si512((void *)(to + at), _mm512_loadu_si512(from + at));
}
#else
static inline void gfs_stream_lines(uint8_t *to, const uint8_t *from, size_t bytes) {
  memcpy(to, from, bytes);
}
#endif

/* gfs_stream_copy by stores of lines. */
static inline void gfs_stream_copy_lines(uint8_t *to, const uint8_t *from, size_t bytes) {
  const size_t at = gfs_least(gfs_bytes_to_line(to), bytes);
  const size_t lines = (bytes - at) / GFS_CACHE_LINE * GFS_CACHE_LINE;
  memcpy(to, from, at);
  gfs_stream_lines(to + at, from + at, lines);
  memcpy(to + at + lines, from + at + lines, bytes - at - lines);
}

/* Order stores around the cache before all stores that follow. */
static inline void gfs_stream_fence(void) {
#if GFS_STREAM_EXISTS
  _mm_sfence();
#endif
}

#endif
