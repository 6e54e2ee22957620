/* pipelined_choice: the choice among pipelined kernels of one function, those of
 * choice_set/pipelined.inc. */
#include "gfsmith.h"
#include "reference.h"

#define KERNEL(name)                                                                               \
  static void name(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,         \
                   uint8_t *const *dst) {                                                          \
    (void)len, (void)k, (void)coeffs, (void)src, (void)dst;                                        \
  }
KERNEL(two_lines)
KERNEL(another_shape)
KERNEL(any)
KERNEL(fixed)
KERNEL(any_streaming)
KERNEL(fixed_streaming)

#include "pipelined.c"

int main(void) {
  REQUIRE(gfsmith_set_isa("scalar") == GFSMITH_OK);
  const gfs_isa *isa = gfs_dispatch_isa();
  REQUIRE(gfs_pipelined_row(isa, NULL, 10, 4) == fixed_streaming);
  REQUIRE(gfs_pipelined_row(isa, NULL, 11, 4) == any_streaming);
  REQUIRE(gfs_pipelined_row(isa, NULL, 11, 3) == any);
  REQUIRE(gfs_pipelined_row(isa, NULL, 10, 5) == NULL);
  puts("ok");
}
