/* kernels.c: the kernels under test, from the generator's own list, so that there is no second one.
 */
#include "harness.h"

#include <string.h>

#ifndef HARNESS_KERNELS_INC
#define HARNESS_KERNELS_INC "kernels.inc"
#endif

/* Only addresses are taken: the kernels are entered through the trampoline, never called from C.
 * The Microsoft copies are weak because the portable C kernels have none. */
#define GFSMITH_KERNEL(symbol, isa, operation, inputs, outputs, unroll, store, prefetch, tables)   \
  extern const char symbol[];                                                                      \
  extern const char symbol##_ms[] __attribute__((weak));
#include HARNESS_KERNELS_INC
#undef GFSMITH_KERNEL

#define GFSMITH_KERNEL(symbol, isa, operation, inputs, outputs, unroll, store, prefetch, tables)   \
  {#symbol, #isa,   OPERATION_##operation, inputs,                                                 \
   outputs, unroll, TABLES_##tables,       {symbol, symbol##_ms}},
const struct kernel harness_kernels[] = {
#include HARNESS_KERNELS_INC
};
#undef GFSMITH_KERNEL

const size_t harness_kernel_count = sizeof harness_kernels / sizeof harness_kernels[0];

size_t kernel_vector_bytes(const struct kernel *kernel) {
  static const struct {
    const char *isa;
    size_t bytes;
  } widths[] = {{"scalar", 8},    {"sse", 16},       {"avx2", 32},       {"avx512", 64},
                {"gfni_sse", 16}, {"gfni_avx2", 32}, {"gfni_avx512", 64}};
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    if (strcmp(widths[i].isa, kernel->isa) == 0) {
      return widths[i].bytes;
    }
  }
  return 64; /* a new instruction set: the widest block covers the narrower ones */
}
