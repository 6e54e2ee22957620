/* probed: the path of large calls by the place of their sources. Accesses lie inside of the
 * sources, with as many bytes without access around each. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "probe.h"
#include "reference.h"

enum { K = 9, M = 4, TRIES = 2000 };
enum { PAGE = 4096, LEN = 30 * PAGE };

static const uint8_t *src[K];

/* K regions of `len` bytes, each between as many bytes without access. */
static void place(size_t len) {
  for (int j = 0; j < K; j++) {
    uint8_t *base = mmap(NULL, 3 * len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base != MAP_FAILED);
    REQUIRE(mprotect(base + len, len, PROT_READ | PROT_WRITE) == 0);
    memset(base + len, 1, len);
    src[j] = base + len;
  }
}

/* Remove the lines of all sources from the caches. */
static void evict(void) {
  for (int j = 0; j < K; j++)
    for (size_t at = 0; at < LEN; at += 64)
      __builtin_ia32_clflush(src[j] + at);
  __builtin_ia32_mfence();
}

/* Does one of many probes return this path? Interrupts disturb some, never all of them. */
static bool sometimes(gfs_path wanted, bool evicted) {
  for (int n = 0; n < TRIES; n++) {
    if (evicted)
      evict();
    if (gfs_path_probed(GFS_PATH_bulk, K + M, LEN, src, K) == wanted)
      return true;
  }
  return false;
}

static void small_and_cached_calls_keep_their_path(void) {
  const uint8_t *nowhere[K] = {0};
  enum { SHARDS = 16 };
  REQUIRE(gfs_path_probed(GFS_PATH_bulk, SHARDS, GFS_PROBED_ABOVE / SHARDS, nowhere, K) ==
          GFS_PATH_bulk);
  for (gfs_path path = GFS_PATH_cached; path <= GFS_PATH_second; path++)
    REQUIRE(gfs_path_probed(path, K + M, SIZE_MAX, nowhere, K) == path);
}

/* Of a linear map without inputs, which repairs a shard that is always 0. */
static void calls_without_sources_keep_their_path(void) {
  const uint8_t *nowhere[1] = {NULL};
  REQUIRE(gfs_path_probed(GFS_PATH_bulk, 1, GFS_PROBED_ABOVE + 1, nowhere, 0) == GFS_PATH_bulk);
}

static void accesses_lie_inside(void) {
  for (unsigned k = 1; k <= K; k++)
    for (size_t len = LEN - 70; len <= LEN; len++)
      gfs_path_probed(GFS_PATH_bulk, 255, len, src, k);
}

int main(void) {
  place(LEN);
  small_and_cached_calls_keep_their_path();
  calls_without_sources_keep_their_path();
  accesses_lie_inside();
  REQUIRE(sometimes(GFS_PATH_second, false));
  REQUIRE(sometimes(GFS_PATH_bulk, true));
  puts("ok");
  return 0;
}
