/* dispatch: the kernel of each path on a CPU with the vendor, family and model in the arguments.
 *
 *     dispatch VENDOR FAMILY MODEL INPUTS OUTPUTS     one line per path: its kernel's name or
 *     "none"
 *     dispatch VENDOR FAMILY MODEL                    the limits: bytes in cache, least bytes of a
 *     shard with streaming stores
 *
 * Linked with --wrap=gfs_cpu_identify, which reports that CPU to the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baked.h"
#include "dispatch.h"
#include "tuned.h"

static gfs_cpu_identity pretended;
static unsigned asked;

void __wrap_gfs_cpu_identify(gfs_cpu_identity *identity);
void __wrap_gfs_cpu_identify(gfs_cpu_identity *identity) {
  asked++;
  *identity = pretended;
}

static const struct {
  const char *name;
  gfsmith_kernel *run;
} names[] = {
#define GFSMITH_KERNEL(symbol, isa, operation, inputs, outputs, unroll, store, prefetch, format)   \
  {#symbol, symbol},
#include "kernels.inc"
#undef GFSMITH_KERNEL
#define GFSMITH_BAKED(symbol, isa, matrix, store, prefetch) {#symbol, symbol},
#include "baked.inc"
#undef GFSMITH_BAKED
};

static void print(gfsmith_kernel *run) {
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
    if (names[n].run == run) {
      puts(names[n].name);
      return;
    }
  puts("none");
}

/* The parity matrix of ISA-L's Cauchy code for three sources. */
static const uint8_t cauchy_3x2[] = {244, 142, 1, 71, 167, 122};

int main(int argc, char **argv) {
  if (argc != 4 && argc != 6)
    return 2;
  strncpy(pretended.vendor, argv[1], sizeof pretended.vendor - 1);
  pretended.family = (unsigned)atoi(argv[2]);
  pretended.model = (unsigned)atoi(argv[3]);
  if (argc == 4) {
    const gfs_limits *limits = gfs_limits_here();
    printf("%zu %zu %zu %zu %d %d %zu\n", limits->first_cache, limits->own_cache,
           limits->stream_min, limits->whole_min == SIZE_MAX ? 0 : limits->whole_min,
           limits->fetch_first, limits->stream_lines, limits->long_rows);
    return 0;
  }
  const gfs_isa *isa = gfs_dispatch_isa();
  unsigned inputs = (unsigned)atoi(argv[4]), outputs = (unsigned)atoi(argv[5]);
  for (gfs_path path = 0; path < GFS_PATHS; path++)
    print(gfs_dispatch_kernel(isa, GFS_OPERATION_dot, inputs, outputs, path));
  gfs_field field;
  gfs_field_init(&field, 0x11d);
  const gfs_known_matrix *matrix = gfs_baked_find(isa, &field, 3, 2, cauchy_3x2);
  for (gfs_path path = 0; matrix != NULL && path < GFS_PATHS; path++)
    print(gfs_baked_kernel(isa, matrix, path));
  return asked <= 1 ? 0 : 1;
}
