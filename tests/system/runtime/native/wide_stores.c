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

enum { ROWS = 256, LONG = 64 << 10, SHORT = 1 << 10, AREA = 512 };

/* Those of as many data shards as parities, and rows. */
static gfs_wide_slices slices(size_t len, size_t rows, bool one_block, bool repair) {
  const gfs_wide_demand demand = {.shards = (unsigned)(2 * rows),
                                  .sources = (unsigned)rows,
                                  .rows = rows,
                                  .one_block = one_block,
                                  .repair = repair};
  return gfs_wide_slices_of(len, 1, &demand, 1);
}

/* Rows of one block are long if the CPU keeps them; a repair has other goals. The distance of
 * prefetching has 4 KiB. */
static void check_rows(void) {
  const size_t most = gfs_limits_here()->long_rows / 2048, rows = most > 0 ? most : 64;
  const gfs_wide_slices kept = slices(LONG, rows, true, false),
                        more_rows = slices(LONG, rows + 1, true, false),
                        blocks = slices(LONG, rows, false, false),
                        repair = slices(LONG, 2 * rows, false, true);
  REQUIRE(kept.part == (most > 0 ? 2048 : 1024) && kept.ahead == (most > 0 ? 2 : 4));
  REQUIRE(more_rows.part == 1024 && more_rows.ahead == 4);
  REQUIRE(blocks.part == 1024 && blocks.ahead == 4);
  REQUIRE(repair.part >= 2048 && repair.ahead == 4);
}

/* Calls in cache have ordinary stores; those from memory the ones of the CPU, of whole lines only
 * with a set that has them. */
static void check_slices(bool has_lines) {
  const gfs_limits *limits = gfs_limits_here();
  const gfs_stream around =
      has_lines && limits->stream_lines ? GFS_STREAM_LINES : GFS_STREAM_QUARTERS;
  const gfs_wide_slices near = slices(SHORT, ROWS, false, false),
                        far = slices(LONG, ROWS, false, false);
  REQUIRE(!near.fetched && near.stores == GFS_STREAM_NONE);
  REQUIRE(far.fetched && far.fetch_first == limits->fetch_first);
  REQUIRE(far.stores == (GFS_STREAM_EXISTS ? around : GFS_STREAM_NONE));
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
  check_rows();
  check_copy(gfs_stream_copy);
  if (has_lines)
    check_copy(gfs_stream_copy_lines);
  puts("ok");
}
