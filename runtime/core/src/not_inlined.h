/* not_inlined.h: marks the rest of a function whose short calls, which do not reach it, then save
 * no registers. */
#ifndef GFS_NOT_INLINED_H
#define GFS_NOT_INLINED_H

#if defined(__GNUC__) || defined(__clang__)
#define GFS_NOT_INLINED __attribute__((noinline))
#else
#define GFS_NOT_INLINED
#endif

#endif
