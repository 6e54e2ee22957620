/* pieces: the bytes of the calls that a map makes of its kernels, by path, shape and length. */
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

int main(void) {
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
  puts("ok");
}
