#include "probe.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

/* The most ticks of the time-stamp counter for lines in a shared cache. Measured for eight lines in
 * eight pages on Zen 4, where it has 2.6 GHz, 5th to 95th percentile: 104 to 156 from the cache;
 * from memory 858 to 1768 with pages of 2 MiB and 1560 to 2886 with pages of 4 KiB. */
#define MOST_TICKS 256u

enum { LINES = 8 };

/* The counter after all earlier loads and before all later ones. */
static uint64_t ticks(void) {
  __builtin_ia32_lfence();
  uint64_t now = __builtin_ia32_rdtsc();
  __builtin_ia32_lfence();
  return now;
}

/* The lines lie in different shards and behind their beginnings, which a caller may have read. */
static uint64_t time_of_lines(size_t len, const uint8_t *const *src, unsigned inputs) {
  uint64_t start = ticks();
  for (unsigned n = 0; n < LINES; n++)
    (void)*(const volatile uint8_t *)(src[inputs * (2 * n + 1) / (2 * LINES)] +
                                      len / (2 * LINES) * (2 * n + 1));
  return ticks() - start;
}

gfs_path gfs_path_probed(gfs_path path, unsigned shards, size_t len, const uint8_t *const *src,
                         unsigned inputs) {
  if (inputs == 0 || gfs_path_is_cached(path) ||
      (len <= GFS_PROBED_ABOVE && len * shards <= GFS_PROBED_ABOVE))
    return path;
  return time_of_lines(len, src, inputs) <= MOST_TICKS ? GFS_PATH_second : path;
}

#else

gfs_path gfs_path_probed(gfs_path path, unsigned shards, size_t len, const uint8_t *const *src,
                         unsigned inputs) {
  (void)shards, (void)len, (void)src, (void)inputs;
  return path;
}

#endif
