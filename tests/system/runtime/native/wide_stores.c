/* wide_stores: the prefetches and the stores of calls on wide codes, on the CPU that the first
 * argument names, with the instruction set of the second one if this CPU has it; and copies around
 * the cache. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <string.h>

#include "cpu.h"
#include "dispatch.h"
#include "reference.h"
#include "sizes.h"
#include "wide_slices.h"

enum { SHARDS = 512, LONG = 64 << 10, SHORT = 1 << 10, AREA = 512 };

static gfs_wide_slices slices(size_t len) {
  const gfs_wide_demand demand = {.shards = SHARDS, .sources = SHARDS / 2, .rows = SHARDS / 2};
  return gfs_wide_slices_of(len, 1, &demand, 1);
}

/* Calls in cache have ordinary stores; those from memory the ones of the CPU, of whole lines only
 * with a set that has them. */
static void check_slices(bool has_lines) {
  const gfs_limits *limits = gfs_limits_here();
  const gfs_stream around =
      has_lines && limits->stream_lines ? GFS_STREAM_LINES : GFS_STREAM_QUARTERS;
  REQUIRE(!slices(SHORT).fetched && slices(SHORT).stores == GFS_STREAM_NONE);
  REQUIRE(slices(LONG).fetched && slices(LONG).fetch_first == limits->fetch_first);
  REQUIRE(slices(LONG).stores == (GFS_STREAM_EXISTS ? around : GFS_STREAM_NONE));
}

typedef void copy(uint8_t *to, const uint8_t *from, size_t bytes);

/* A copy to any place of a line writes all bytes and no others. */
static void check_copy(copy *run) {
  static uint8_t from[AREA], to[AREA], wanted[AREA];
  for (size_t n = 0; n < AREA; n++)
    from[n] = (uint8_t)(n * 37 + 1);
  for (size_t at = 0; at < GFS_CACHE_LINE; at++)
    for (size_t bytes = 0; bytes < AREA - 2 * GFS_CACHE_LINE; bytes += 1 + bytes / 16) {
      memset(to, 0, AREA);
      memset(wanted, 0, AREA);
      memcpy(wanted + at, from, bytes);
      run(to + at, from, bytes);
      gfs_stream_fence();
      REQUIRE(memcmp(to, wanted, AREA) == 0);
    }
}

int main(int count, char **arguments) {
  REQUIRE(count == 3 && setenv("GFSMITH_CPU", arguments[1], 1) == 0);
  (void)gfsmith_set_isa(arguments[2]);
  const bool has_lines = (gfs_dispatch_isa()->features & GFSMITH_CPU_AVX512F) != 0;
  check_slices(has_lines);
  check_copy(gfs_stream_copy);
  if (has_lines)
    check_copy(gfs_stream_copy_lines);
  puts("ok");
}
