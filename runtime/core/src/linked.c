#include <string.h>

#include "dispatch.h"
#include "sha256.h"

/* A kernel in machine code, with the size and the digest of the proved code. */
typedef struct proved_kernel {
  const char *name;
  gfsmith_kernel *run;
  size_t size;
  uint8_t digest[GFS_SHA256_BYTES];
} proved_kernel;

/* The first instruction of a kernel. With clang's -fsanitize=cfi-icall, a pointer to a function is
 * the address of a jump to it. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_function_start)
#define GFS_CODE(symbol) ((gfsmith_kernel *)__builtin_function_start(symbol))
#endif
#endif
#ifndef GFS_CODE
#define GFS_CODE(symbol) symbol
#endif

static const proved_kernel proved_kernels[] = {
#define GFSMITH_COMPILED(isa, number)
#define GFSMITH_PROVED(symbol, size, ...) {#symbol, GFS_CODE(symbol), size, {__VA_ARGS__}},
#include "digests.inc"
#undef GFSMITH_PROVED
#undef GFSMITH_COMPILED
    {NULL, NULL, 0, {0}}};

enum {
  COMPILED_KERNELS = 0
#define GFSMITH_COMPILED(isa, number) +number
#define GFSMITH_PROVED(symbol, size, ...)
#include "digests.inc"
#undef GFSMITH_PROVED
#undef GFSMITH_COMPILED
};

static bool is_proved_code(const proved_kernel *kernel) {
  uint8_t digest[GFS_SHA256_BYTES];
  /* ISO C does not convert a pointer to a function to one to bytes. */
  gfs_sha256((const uint8_t *)(uintptr_t)kernel->run, kernel->size, digest);
  return memcmp(digest, kernel->digest, sizeof digest) == 0;
}

const char *gfsmith_check_kernels(unsigned *compared, unsigned *compiled) {
  const proved_kernel *kernel = proved_kernels;
  while (kernel->name != NULL && is_proved_code(kernel))
    kernel++;
  if (compared != NULL)
    *compared = (unsigned)(kernel - proved_kernels);
  if (compiled != NULL)
    *compiled = COMPILED_KERNELS;
  return kernel->name;
}
