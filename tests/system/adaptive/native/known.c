/* Policies with kernels for a known matrix, in a build with cauchy:5x2: which kernels a map takes,
 * and that the bytes are those of the default policy, with one pass and with a second pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "pipeline.h"
#include "variants.h"

enum { K = 5, ROWS = 3, LENGTHS = 1500, PITCH = LENGTHS + 64 };

static uint8_t data[K][PITCH], expected[ROWS][PITCH], found[ROWS][PITCH];

static void fail(const char *what, size_t len) {
  printf("%s, %zu bytes\n", what, len);
  exit(1);
}

static void fill(void) {
  uint32_t random = 7;
  for (int j = 0; j < K; j++)
    for (int n = 0; n < PITCH; n++)
      data[j][n] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
}

static void run(const gfs_variants *variants, gfs_policy policy, size_t len, uint8_t (*to)[PITCH]) {
  const uint8_t *src[K];
  uint8_t *dst[ROWS];
  for (int j = 0; j < K; j++)
    src[j] = data[j] + 3;
  for (int i = 0; i < ROWS; i++)
    dst[i] = memset(to[i], 0xa5, PITCH);
  gfs_pipeline_run(variants, policy, (gfs_granules){1, 4096}, GFS_PATH_distant, len,
                   &(gfs_stripes){1, src, dst, false});
}

/* `known`: the pass of the pipelined kernel must be that of the known matrix. */
static void test(unsigned outputs, const uint8_t *matrix, bool known) {
  const gfs_isa *isa = gfs_dispatch_isa();
  gfs_field field;
  gfs_map *map;
  gfs_variants variants;
  gfsmith_kernel *table[ROWS][2];
  gfs_field_init(&field, 0x11d);
  if (gfs_map_create(&map, isa, &field, K, outputs, matrix) != GFSMITH_OK)
    fail("no map", 0);
  gfs_variants_find(&variants, isa, map, table);
  gfs_policy policy = {.walk = GFS_WALK_ROW, .distance = GFS_DISTANCE_ROW};
  if (!gfs_variants_have(&variants, policy))
    fail("no kernel", 0);
  if (variants.variant[policy.walk].known != known)
    fail("another pass", 0);
  for (size_t len = 1; len <= LENGTHS; len++) {
    run(&variants, (gfs_policy){.walk = GFS_WALK_DEFAULT}, len, expected);
    run(&variants, policy, len, found);
    if (memcmp(expected, found, sizeof found) != 0)
      fail("other bytes", len);
  }
  gfs_map_destroy(map);
}

int main(int argc, char **argv) {
  uint8_t matrix[ROWS * K]; /* the arguments, row by row */
  if (argc != 1 + ROWS * K)
    fail("arguments", 0);
  for (int n = 0; n < ROWS * K; n++)
    matrix[n] = (uint8_t)atoi(argv[1 + n]);
  fill();
  test(2, matrix, true);
  test(3, matrix, true); /* the third row is a pass with tables */
  matrix[0] ^= 1;
  test(2, matrix, false);
  puts("equal");
  return 0;
}
