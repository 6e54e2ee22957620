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

static const proved_kernel proved_kernels[] = {
#define GFSMITH_COMPILED(isa, number)
#define GFSMITH_PROVED(symbol, size, ...) {#symbol, symbol, size, {__VA_ARGS__}},
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
