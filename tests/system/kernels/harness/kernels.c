/* kernels.c: the kernels under test, from the generator's own lists. */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

/* The matrices that baked kernels know. A matrix without a kernel causes a warning, hence an error.
 */
#define GFSMITH_MATRIX(id, polynomial, outputs, inputs, ...)                                       \
  enum { id##_outputs = (outputs), id##_inputs = (inputs) };                                       \
  static const uint8_t id##_elements[] = {__VA_ARGS__};                                            \
  _Static_assert(sizeof id##_elements == (size_t)(outputs) * (inputs), #id);
#include "matrices.inc"
#undef GFSMITH_MATRIX
#define none_elements NULL

/* Only addresses are taken: the trampoline enters the kernels, C never calls them. The Microsoft
 * copies are weak because the portable C kernels have none. */
#define DECLARE(symbol, ...)                                                                       \
  extern const char symbol[];                                                                      \
  extern const char symbol##_ms[] __attribute__((weak));
#define GFSMITH_KERNEL DECLARE
#define GFSMITH_BAKED DECLARE
#define GFSMITH_PIPELINED DECLARE
#define GFSMITH_PIPELINED_ORDER(...)
#include "baked.inc"
#include "kernels.inc"
#include "pipelined.inc"
#undef GFSMITH_PIPELINED
#undef GFSMITH_BAKED
#undef GFSMITH_KERNEL

#define GFSMITH_KERNEL(symbol, isa, operation, inputs, outputs, unroll, store, prefetch, tables)   \
  {#symbol,                                                                                        \
   #isa,                                                                                           \
   OPERATION_##operation,                                                                          \
   inputs,                                                                                         \
   outputs,                                                                                        \
   unroll,                                                                                         \
   0,                                                                                              \
   TABLES_##tables,                                                                                \
   {symbol, symbol##_ms},                                                                          \
   NULL},
#define GFSMITH_PIPELINED(symbol, isa, inputs, outputs, id, walk, shuffled, lines, store, tables)  \
  {#symbol,                                                                                        \
   #isa,                                                                                           \
   OPERATION_dot,                                                                                  \
   inputs,                                                                                         \
   outputs,                                                                                        \
   0,                                                                                              \
   lines,                                                                                          \
   TABLES_##tables,                                                                                \
   {symbol, symbol##_ms},                                                                          \
   id##_elements},
#define GFSMITH_BAKED(symbol, isa, id, store, prefetch)                                            \
  {#symbol, #isa, OPERATION_dot, id##_inputs,           id##_outputs,                              \
   0,       0,    TABLES_none,   {symbol, symbol##_ms}, id##_elements},
const struct kernel harness_kernels[] = {
#include "baked.inc"
#include "kernels.inc"
/* Included last, so that lists without pipelined kernels keep their order. */
#include "pipelined.inc"
};
#undef GFSMITH_PIPELINED_ORDER
#undef GFSMITH_PIPELINED
#undef GFSMITH_BAKED
#undef GFSMITH_KERNEL

const size_t harness_kernel_count = sizeof harness_kernels / sizeof harness_kernels[0];

/* Returns the number after `tag` in the symbol's second half,
 * <operation>__<isa>[_v<bits>][_<technique>]_u<unroll>..., or 0 if the tag does not occur. */
static size_t number_of(const struct kernel *kernel, const char *tag) {
  const char *at = strstr(kernel->symbol, "__");
  while (at != NULL && (at = strstr(at, tag)) != NULL) {
    at += strlen(tag);
    size_t number = strtoul(at, NULL, 10);
    if (number != 0) {
      return number;
    }
  }
  return 0;
}

size_t kernel_vector_bytes(const struct kernel *kernel) {
  size_t bits = number_of(kernel, "_v");
  if (bits != 0) {
    return bits / 8;
  }
  static const struct {
    const char *isa;
    size_t bytes;
  } widths[] = {HARNESS_WIDTHS}; /* defined by lists.py */
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    if (strcmp(widths[i].isa, kernel->isa) == 0) {
      return widths[i].bytes;
    }
  }
  /* Vectors of a scalable set have the length of the CPU's vectors. */
  size_t scalable = machine_scalable_bytes();
  return scalable != 0 ? scalable : 16;
}

/* baked.inc states the unroll only in the symbol. For a symbol without it, this is the generator's
 * maximum: the lengths to test then include those of smaller blocks. */
static size_t unroll_of(const struct kernel *kernel) {
  if (kernel->unroll != 0) {
    return kernel->unroll;
  }
  size_t unroll = number_of(kernel, "_u");
  return unroll != 0 ? unroll : 8;
}

size_t kernel_block_bytes(const struct kernel *kernel) {
  return kernel_vector_bytes(kernel) * unroll_of(kernel);
}
