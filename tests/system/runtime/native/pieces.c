/* pieces: the bytes of the calls that a map makes of its kernels, by path, shape and length, on the
 * CPU that the argument names. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "map.h"
#include "reference.h"
#include "sizes.h"

enum { LEN = 64 * 1024 };

static size_t most, total;

static void kernel(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,
                   uint8_t *const *dst) {
  (void)k, (void)coeffs, (void)src, (void)dst;
  most = len > most ? len : most;
  total += len;
}

/* A map of `dots` passes whose kernels have these traits. */
typedef struct shape {
  unsigned inputs, outputs, dots;
  gfs_traits traits;
  unsigned near;
} shape;

static bool whole(gfs_path path, size_t len, shape s) {
  static union {
    gfs_map map;
    uint8_t bytes[sizeof(gfs_map) + 8 * sizeof(gfs_pass)];
  } room;
  static uint8_t bytes[LEN];
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  for (unsigned n = 0; n < GFSMITH_MAX_SHARDS; n++)
    src[n] = dst[n] = bytes;
  room.map = (gfs_map){.inputs = s.inputs, .outputs = s.outputs, .dots = s.dots};
  for (unsigned n = 0; n < s.dots; n++) {
    gfs_pass *pass = &room.map.pass[n];
    unsigned outputs = s.outputs / s.dots;
    *pass =
        (gfs_pass){.first = n * outputs, .outputs = outputs, .traits = s.traits, .near = s.near};
    pass->kernel[path] = kernel;
  }
  most = total = 0;
  gfs_map_apply_pieces(&room.map, path, len, src, dst);
  REQUIRE(total == len * s.dots);
  return most == gfs_least(len, s.dots == 1 ? len : gfs_map_chunk(s.inputs + s.outputs));
}

static void prefetch_where_it_pays(void) {
  const gfs_traits plain = {.store = GFS_STORE_temporal}, around = {.store = GFS_STORE_streaming},
                   ahead = {.store = GFS_STORE_streaming, .prefetch = 512};
  /* In cache nothing is prefetched; short shards in memory always are. */
  REQUIRE(whole(GFS_PATH_cached, 4096, (shape){100, 8, 1, plain, 0}));
  REQUIRE(!whole(GFS_PATH_distant, 4032, (shape){4, 2, 1, around, 0}));
  /* Up to 16 shards of a pass are followed; results that are stored around the cache are none. */
  REQUIRE(whole(GFS_PATH_distant, 4096, (shape){12, 4, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_distant, 4096, (shape){13, 4, 1, around, 0}));
  REQUIRE(whole(GFS_PATH_bulk, LEN, (shape){16, 8, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_bulk, LEN, (shape){17, 8, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_bulk, LEN, (shape){16, 8, 1, plain, 0}));
  REQUIRE(whole(GFS_PATH_distant, 4096, (shape){8, 16, 2, plain, 0}));
  REQUIRE(!whole(GFS_PATH_distant, 4096, (shape){9, 16, 2, plain, 0}));
  /* Kernels of many outputs prefetch enough, if they prefetch. */
  REQUIRE(whole(GFS_PATH_distant, 4096, (shape){100, 16, 1, ahead, 0}));
  REQUIRE(!whole(GFS_PATH_distant, 4096, (shape){100, 15, 1, ahead, 0}));
  REQUIRE(!whole(GFS_PATH_bulk, LEN, (shape){100, 16, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_bulk, LEN, (shape){100, 32, 2, ahead, 0}));
  /* Kernels that prefetch a short distance ahead compute whole shards between 64 bytes and 16 KiB.
   */
  REQUIRE(whole(GFS_PATH_distant, 1024, (shape){100, 20, 1, ahead, 128}));
  REQUIRE(whole(GFS_PATH_distant, 8192, (shape){100, 15, 1, ahead, 128}));
  REQUIRE(!whole(GFS_PATH_nearby, 1024, (shape){100, 20, 1, ahead, 128}));
  REQUIRE(!whole(GFS_PATH_distant, 1024, (shape){100, 20, 2, ahead, 128}));
}

/* A CPU that looks far ahead computes calls of one pass whole from 9 KiB on, unless the shards are
 * long, or their number or that of the outputs is great. */
static void prefetch_less(void) {
  const gfs_traits around = {.store = GFS_STORE_streaming};
  REQUIRE(!whole(GFS_PATH_distant, 9215 / 14, (shape){10, 4, 1, around, 0}));
  REQUIRE(whole(GFS_PATH_distant, 9216 / 14 + 1, (shape){10, 4, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_nearby, 9216 / 14 + 1, (shape){10, 4, 1, around, 0}));
  REQUIRE(whole(GFS_PATH_distant, 2048, (shape){20, 10, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_distant, 2048, (shape){20, 10, 2, around, 0}));
  REQUIRE(whole(GFS_PATH_distant, 2048, (shape){41, 15, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_distant, 2048, (shape){42, 15, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_distant, 2048, (shape){40, 16, 1, around, 0}));
  REQUIRE(!whole(GFS_PATH_bulk, LEN, (shape){17, 8, 1, around, 0}));
}

int main(int count, char **arguments) {
  REQUIRE(count == 2 && setenv("GFSMITH_CPU", arguments[1], 1) == 0);
  if (gfs_limits_here()->whole_min == SIZE_MAX)
    prefetch_where_it_pays();
  else
    prefetch_less();
  puts("ok");
}
