/* gfsmith.c: a backend of liberasurecode that computes with gfsmith, code "cauchy" (the matrix of
 * isa_l_rs_cauchy).
 *
 * It uses liberasurecode's own headers, above all erasurecode_backend.h. In liberasurecode's tree
 * it is src/backends/gfsmith/gfsmith.c, with an identity of its own; with an unchanged
 * liberasurecode it replaces a backend that Debian does not ship: README.md. liberasurecode loads
 * libgfsmith.so.0 by the name in backend_gfsmith, and looks up its functions there. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "erasurecode.h"
#include "erasurecode_backend.h"
#include "erasurecode_version.h"
#include "gfsmith.h"

/* The replaced backend, as macros of the build; README.md. */
#ifndef GFSMITH_BACKEND
#define GFSMITH_BACKEND backend_gfsmith
#define GFSMITH_BACKEND_ID EC_BACKEND_GFSMITH
#define GFSMITH_BACKEND_NAME "gfsmith"
#endif

#define GFSMITH_BACKEND_VERSION _VERSION(1, 0, 0)

typedef struct functions {
  gfsmith_status (*create)(gfsmith_codec **, const char *, unsigned, unsigned);
  void (*destroy)(gfsmith_codec *);
  gfsmith_status (*encode)(const gfsmith_codec *, size_t, const uint8_t *const *, uint8_t *const *);
  gfsmith_status (*reconstruct)(const gfsmith_codec *, size_t, uint8_t *const *, const bool *,
                                const bool *);
} functions;

typedef struct instance {
  functions call;
  gfsmith_codec *codec;
  int k, m;
} instance;

/* Look up a function; ISO C has no cast from the void * of dlsym. */
static bool look_up(void *library, const char *name, void *function, size_t size) {
  void *found = dlsym(library, name);
  memcpy(function, &found, size);
  return found != NULL;
}

#define LOOK_UP(library, name, function) look_up(library, name, &(function), sizeof(function))

static void *open_instance(struct ec_backend_args *args, void *library) {
  instance *made = malloc(sizeof *made);
  if (made == NULL)
    return NULL;
  *made = (instance){.k = args->uargs.k, .m = args->uargs.m};
  args->uargs.w = 8;
  if (made->k > 0 && made->m > 0 && made->k + made->m <= EC_MAX_FRAGMENTS &&
      LOOK_UP(library, "gfsmith_codec_create", made->call.create) &&
      LOOK_UP(library, "gfsmith_codec_destroy", made->call.destroy) &&
      LOOK_UP(library, "gfsmith_encode", made->call.encode) &&
      LOOK_UP(library, "gfsmith_reconstruct", made->call.reconstruct) &&
      made->call.create(&made->codec, "cauchy", (unsigned)made->k, (unsigned)made->m) == GFSMITH_OK)
    return made;
  free(made);
  return NULL;
}

static int close_instance(void *opaque) {
  instance *of = opaque;
  of->call.destroy(of->codec);
  free(of);
  return 0;
}

static int encode(void *opaque, char **data, char **parity, int blocksize) {
  const instance *of = opaque;
  gfsmith_status status = of->call.encode(of->codec, (size_t)blocksize,
                                          (const uint8_t *const *)data, (uint8_t *const *)parity);
  return status == GFSMITH_OK ? 0 : -1;
}

/* Is a fragment in a list that ends with -1? */
static bool listed(const int *list, int fragment) {
  for (; *list >= 0; list++)
    if (*list == fragment)
      return true;
  return false;
}

/* Rebuild all missing fragments, or only fragment `only` if it is not negative. */
static int rebuild(const instance *of, char **data, char **parity, const int *missing, int only,
                   int blocksize) {
  uint8_t *shards[EC_MAX_FRAGMENTS];
  bool present[EC_MAX_FRAGMENTS], wanted[EC_MAX_FRAGMENTS];
  for (int n = 0; n < of->k + of->m; n++) {
    shards[n] = (uint8_t *)(n < of->k ? data[n] : parity[n - of->k]);
    present[n] = !listed(missing, n);
    wanted[n] = !present[n] && (only < 0 || only == n);
  }
  gfsmith_status status =
      of->call.reconstruct(of->codec, (size_t)blocksize, shards, present, wanted);
  return status == GFSMITH_OK ? 0 : -1;
}

static int decode(void *opaque, char **data, char **parity, int *missing, int blocksize) {
  return rebuild(opaque, data, parity, missing, -1, blocksize);
}

static int reconstruct(void *opaque, char **data, char **parity, int *missing, int destination,
                       int blocksize) {
  return rebuild(opaque, data, parity, missing, destination, blocksize);
}

/* Any k available fragments suffice, since the code is MDS: the first ones, data before
 * parities. */
static int fragments_needed(void *opaque, int *missing, int *excluded, int *needed) {
  const instance *of = opaque;
  int count = 0;
  for (int n = 0; n < of->k + of->m && count < of->k; n++)
    if (!listed(missing, n) && !listed(excluded, n))
      needed[count++] = n;
  if (count < of->k)
    return -1;
  needed[count] = -1;
  return 0;
}

static int element_bits(void *opaque) {
  (void)opaque;
  return 8;
}

static bool is_compatible_with(uint32_t version) { return version == GFSMITH_BACKEND_VERSION; }

static struct ec_backend_op_stubs stubs = {
    .INIT = open_instance,
    .EXIT = close_instance,
    .ENCODE = encode,
    .DECODE = decode,
    .FRAGSNEEDED = fragments_needed,
    .RECONSTRUCT = reconstruct,
    .ELEMENTSIZE = element_bits,
    .ISCOMPATIBLEWITH = is_compatible_with,
    .GETMETADATASIZE = get_backend_metadata_size_zero,
    .GETENCODEOFFSET = get_encode_offset_zero,
};

struct ec_backend_common GFSMITH_BACKEND = {
    .id = GFSMITH_BACKEND_ID,
    .name = GFSMITH_BACKEND_NAME,
    .soname = "libgfsmith.so.0",
    .soversion = "1.0.0",
    .ops = &stubs,
    .ec_backend_version = GFSMITH_BACKEND_VERSION,
};
