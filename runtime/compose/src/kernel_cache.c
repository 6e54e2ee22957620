#include "kernel_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* The number of kernels from which on unused ones are dropped; one of 12 + 4 takes some 10 KiB. */
enum { REMEMBERED = 256 };

/* The key of a kernel: polynomial (2 bytes), inputs, outputs, matrix. */
enum { HEAD = 4 };

struct gfc_kernel {
  UT_hash_handle hh;
  gfsmith_codec *codec;
  unsigned users;
  uint64_t taken; /* time of the last use, counted in uses of all kernels */
  bool listed;
  size_t bytes;
  uint8_t key[];
};

struct gfc_kernels {
  pthread_mutex_t lock;
  gfc_kernel *list;
  uint64_t takings;
};

gfc_kernels *gfc_kernels_create(void) {
  gfc_kernels *kernels = calloc(1, sizeof *kernels);
  if (kernels != NULL && pthread_mutex_init(&kernels->lock, NULL) != 0) {
    free(kernels);
    return NULL;
  }
  return kernels;
}

static void destroy(gfc_kernel *kernel) {
  gfsmith_codec_destroy(kernel->codec);
  free(kernel);
}

void gfc_kernels_destroy(gfc_kernels *kernels) {
  if (kernels == NULL)
    return;
  gfc_kernel *kernel, *next;
  HASH_ITER(hh, kernels->list, kernel, next) {
    HASH_DEL(kernels->list, kernel);
    destroy(kernel);
  }
  pthread_mutex_destroy(&kernels->lock);
  free(kernels);
}

/* A kernel with its key and without a codec. */
static gfc_kernel *prepare(const gfsmith_calc *calc, unsigned inputs) {
  bool sum = calc->calculator == GFSMITH_XOR;
  unsigned outputs = sum ? 1 : calc->outputs;
  unsigned polynomial = sum ? GFSMITH_POLYNOMIAL : calc->polynomial;
  size_t elements = (size_t)inputs * outputs;
  gfc_kernel *kernel = calloc(1, sizeof *kernel + HEAD + elements);
  if (kernel == NULL)
    return NULL;
  kernel->bytes = HEAD + elements;
  kernel->users = 1;
  kernel->key[0] = (uint8_t)polynomial;
  kernel->key[1] = (uint8_t)(polynomial >> 8);
  kernel->key[2] = (uint8_t)inputs;
  kernel->key[3] = (uint8_t)outputs;
  if (sum)
    memset(kernel->key + HEAD, 1, elements);
  else
    memcpy(kernel->key + HEAD, calc->matrix, elements);
  return kernel;
}

static gfc_kernel *find(gfc_kernels *kernels, const gfc_kernel *like) {
  gfc_kernel *found;
  HASH_FIND(hh, kernels->list, like->key, like->bytes, found);
  if (found != NULL)
    found->users++;
  return found;
}

/* Make space: drop the least recently used kernel that is not in use. */
static void forget(gfc_kernels *kernels) {
  gfc_kernel *kernel, *next, *oldest = NULL;
  if (HASH_COUNT(kernels->list) < REMEMBERED)
    return;
  HASH_ITER(hh, kernels->list, kernel, next) {
    if (kernel->users == 0 && (oldest == NULL || kernel->taken < oldest->taken))
      oldest = kernel;
  }
  if (oldest == NULL)
    return;
  HASH_DEL(kernels->list, oldest);
  destroy(oldest);
}

static int make(gfc_kernels *kernels, gfc_kernel *kernel, unsigned polynomial) {
  int status = gfsmith_codec_create_matrix(&kernel->codec, polynomial, kernel->key[2],
                                           kernel->key[3], kernel->key + HEAD);
  if (status != GFSMITH_OK)
    return status;
  forget(kernels);
  HASH_ADD_KEYPTR(hh, kernels->list, kernel->key, kernel->bytes, kernel);
  kernel->listed = kernel->hh.tbl != NULL;
  return GFSMITH_OK;
}

int gfc_kernel_take(gfc_kernels *kernels, const gfsmith_calc *calc, unsigned inputs,
                    gfc_kernel **out) {
  unsigned outputs = calc->calculator == GFSMITH_XOR ? 1 : calc->outputs;
  unsigned polynomial = calc->calculator == GFSMITH_XOR ? GFSMITH_POLYNOMIAL : calc->polynomial;
  *out = NULL;
  if (inputs == 0 || outputs == 0 || inputs + outputs > GFSMITH_MAX_SHARDS || polynomial > 0x1ff)
    return GFSMITH_EINVAL;
  gfc_kernel *made = prepare(calc, inputs);
  if (made == NULL)
    return GFSMITH_ENOMEM;
  pthread_mutex_lock(&kernels->lock);
  int status = GFSMITH_OK;
  *out = find(kernels, made);
  if (*out == NULL && (status = make(kernels, made, polynomial)) == GFSMITH_OK)
    *out = made;
  if (*out != NULL)
    (*out)->taken = ++kernels->takings;
  pthread_mutex_unlock(&kernels->lock);
  if (*out != made)
    destroy(made);
  return status;
}

void gfc_kernel_give(gfc_kernels *kernels, gfc_kernel *kernel) {
  pthread_mutex_lock(&kernels->lock);
  bool last = --kernel->users == 0 && !kernel->listed;
  pthread_mutex_unlock(&kernels->lock);
  if (last)
    destroy(kernel);
}

int gfc_kernel_run(const gfc_kernel *kernel, size_t bytes, const uint8_t *const *input,
                   uint8_t *const *output) {
  return gfsmith_encode(kernel->codec, bytes, input, output);
}
