/* prefetch.h: the prefetch instruction, for compilers that have an intrinsic for it. */
#ifndef GFS_PREFETCH_H
#define GFS_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#include "sizes.h"

/* Prefetch the line at `address` into the first- or the second-level cache; any address is allowed.
 */
#if defined(__GNUC__) || defined(__clang__)
#define GFS_PREFETCH_FIRST(address) __builtin_prefetch((address), 0, 3)
#define GFS_PREFETCH_SECOND(address) __builtin_prefetch((address), 0, 2)
#elif defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#define GFS_PREFETCH_FIRST(address) _mm_prefetch((const char *)(address), _MM_HINT_T0)
#define GFS_PREFETCH_SECOND(address) _mm_prefetch((const char *)(address), _MM_HINT_T1)
#else
#define GFS_PREFETCH_FIRST(address) ((void)(address))
#define GFS_PREFETCH_SECOND(address) ((void)(address))
#endif

/* GCC (12) regards a function that only prefetches as one without effects, and removes its calls.
 */
#if defined(__GNUC__) && !defined(__clang__)
#define GFS_PREFETCH_IS_EFFECT __asm__ volatile("")
#else
#define GFS_PREFETCH_IS_EFFECT ((void)0)
#endif

/* Prefetch consecutive lines: those that begin at multiples of a line behind the address, below
 * `bytes`. */
static inline void gfs_prefetch_first(const uint8_t *address, size_t bytes) {
  GFS_PREFETCH_IS_EFFECT;
  for (size_t at = 0; at < bytes; at += GFS_CACHE_LINE)
    GFS_PREFETCH_FIRST(address + at);
}

static inline void gfs_prefetch_second(const uint8_t *address, size_t bytes) {
  GFS_PREFETCH_IS_EFFECT;
  for (size_t at = 0; at < bytes; at += GFS_CACHE_LINE)
    GFS_PREFETCH_SECOND(address + at);
}

#endif
