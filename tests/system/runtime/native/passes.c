/* passes: for each matrix on stdin, the kernels that a map of it runs in cache, on a CPU without
 * tuned kernels. A line is: polynomial inputs outputs elements, in hexadecimal. The answer has a
 * line with first output and symbol for each pass. Argument: the instruction set. Linked with
 * -Wl,--wrap=gfs_cpu_identify. */
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "map.h"
#include "reference.h"

void __wrap_gfs_cpu_identify(gfs_cpu_identity *identity);
void __wrap_gfs_cpu_identify(gfs_cpu_identity *identity) { memset(identity, 0, sizeof *identity); }

static const struct {
  gfsmith_kernel *run;
  const char *symbol;
} names[] = {
#define GFSMITH_KERNEL(symbol, isa, operation, inputs, outputs, unroll, store, prefetch, format)   \
  {symbol, #symbol},
#include "kernels.inc"
#undef GFSMITH_KERNEL
#define GFSMITH_BAKED(symbol, isa, matrix, store, prefetch) {symbol, #symbol},
#include "baked.inc"
#undef GFSMITH_BAKED
};

static const char *name_of(gfsmith_kernel *run) {
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
    if (names[n].run == run)
      return names[n].symbol;
  return "?";
}

int main(int count, char **arguments) {
  REQUIRE(count == 2 && gfsmith_set_isa(arguments[1]) == GFSMITH_OK);
  unsigned polynomial, inputs, outputs, element;
  while (scanf("%x %x %x", &polynomial, &inputs, &outputs) == 3) {
    static uint8_t matrix[GFSMITH_MAX_SHARDS * GFSMITH_MAX_SHARDS];
    for (unsigned n = 0; n < inputs * outputs; n++) {
      REQUIRE(scanf("%x", &element) == 1);
      matrix[n] = (uint8_t)element;
    }
    gfs_field field;
    gfs_map *map;
    gfs_field_init(&field, polynomial);
    REQUIRE(gfs_map_create(&map, gfs_dispatch_isa(), &field, inputs, outputs, matrix) ==
            GFSMITH_OK);
    for (unsigned n = 0; n < map->dots; n++)
      printf("%u %s ", map->pass[n].first, name_of(map->pass[n].kernel[GFS_PATH_cached]));
    putchar('\n');
    free(map);
  }
  return 0;
}
