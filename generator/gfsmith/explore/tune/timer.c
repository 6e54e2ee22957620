/* Timer of gfsmith tune, called by load.py. Variants run through the library's own loop.
 *
 * A variant is a gfs_map with one kernel per pass. gfs_map_apply of runtime/core/src runs it, so
 * calls on shards in memory use the library's steps with their prefetches. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "map.h"

/* All paths have the same kernel here, so the limits between them do not matter. */
const gfs_limits *gfs_limits_here(void) {
  static const gfs_limits limits = {(size_t)512 << 10, 1024};
  return &limits;
}

gfs_path gfs_path_probed(gfs_path path, unsigned shards, size_t len, const uint8_t *const *src,
                         unsigned inputs) {
  (void)shards, (void)len, (void)src, (void)inputs;
  return path;
}

/* The shards of the open cell: stripes of inputs and outputs, `pitch` bytes from one shard to the
 * next. */
static struct {
  uint8_t *pool;
  size_t bytes;
  unsigned inputs, outputs;
  size_t len, pitch, stripes, cursor;
  uint32_t *order; /* of stripes; NULL: always the first one */
  gfsmith_hint hint;
} state;

static uint64_t next(uint64_t *random) {
  uint64_t z = *random += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Allocate the pool and write nonzero bytes to every page. */
int tune_pool(size_t bytes) {
  void *pool = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pool == MAP_FAILED)
    return -1;
  madvise(pool, bytes, MADV_HUGEPAGE);
  uint64_t random = 1;
  for (size_t n = 0; n < bytes / sizeof random; n++)
    ((uint64_t *)pool)[n] = next(&random);
  state.pool = pool;
  state.bytes = bytes;
  return 0;
}

void tune_free(void) {
  munmap(state.pool, state.bytes);
  free(state.order);
  memset(&state, 0, sizeof state);
}

/* Select the cell for the next samples. memory: stripes all over the pool in shuffled order. -1: no
 * space. */
int tune_cell(unsigned inputs, unsigned outputs, size_t len, size_t pitch, int memory) {
  enum { SLACK = 4096 }; /* for displacements */
  free(state.order);
  state.order = NULL;
  state.inputs = inputs, state.outputs = outputs, state.len = len, state.pitch = pitch;
  state.stripes = (state.bytes - SLACK) / (pitch * (inputs + outputs));
  state.cursor = 0;
  state.hint = memory ? GFSMITH_HINT_STREAMING : GFSMITH_HINT_CACHED;
  if (state.stripes < 2 || inputs + outputs > GFSMITH_MAX_SHARDS)
    return -1;
  if (!memory)
    return 0;
  state.order = malloc(state.stripes * sizeof *state.order);
  if (state.order == NULL)
    return -1;
  uint64_t random = 1;
  for (size_t n = 0; n < state.stripes; n++) {
    size_t other = next(&random) % (n + 1);
    state.order[n] = state.order[other];
    state.order[other] = (uint32_t)n;
  }
  return 0;
}

/* A variant: `passes` passes, each with one kernel, its table and its outputs. free() frees it. */
gfs_map *tune_map(unsigned inputs, unsigned passes, gfsmith_kernel *const *kernels,
                  const unsigned *outputs, const uint8_t *const *tables) {
  gfs_map *map = calloc(1, sizeof *map + passes * sizeof(gfs_pass));
  if (map == NULL)
    return NULL;
  map->inputs = inputs;
  map->dots = passes;
  for (unsigned n = 0; n < passes; n++) {
    gfs_pass *pass = &map->pass[n];
    *pass = (gfs_pass){.tables = tables[n], .first = map->outputs, .outputs = outputs[n]};
    for (gfs_path path = 0; path < GFS_PATHS; path++)
      pass->kernel[path] = kernels[n];
    map->outputs += outputs[n];
  }
  return map;
}

static void call(const gfs_map *map, size_t displacement, size_t stripe) {
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  uint8_t *at = state.pool + displacement + stripe * state.pitch * (state.inputs + state.outputs);
  for (unsigned j = 0; j < state.inputs; j++, at += state.pitch)
    src[j] = at;
  for (unsigned i = 0; i < state.outputs; i++, at += state.pitch)
    dst[i] = at;
  gfs_map_apply(map, state.hint, state.len, src, dst);
}

static void calls(const gfs_map *map, size_t displacement, size_t count) {
  for (; count > 0; count--) {
    size_t stripe = 0;
    if (state.order != NULL) {
      stripe = state.order[state.cursor];
      state.cursor = state.cursor + 1 == state.stripes ? 0 : state.cursor + 1;
    }
    call(map, displacement, stripe);
  }
}

/* Processor time of this thread in nanoseconds per call, over `count` calls after `lead` untimed
 * calls. displacement: a multiple of 64 below 4096, the position of the shards in their pages. */
double tune_sample(const gfs_map *map, size_t displacement, size_t lead, size_t count) {
  struct timespec begin, end;
  calls(map, displacement, lead);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  calls(map, displacement, count);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
  return ns / (double)count;
}

/* The clock in GHz: the best of several runs of a loop that takes one cycle per iteration on every
 * core since 2013. */
double tune_clock(void) {
  enum { RUNS = 25, TURNS = 1000000 };
  double best = 0;
  for (int run = 0; run < RUNS; run++) {
    struct timespec begin, end;
    uint64_t turns = TURNS;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    __asm__ volatile(".balign 32\n1: sub $1, %0\n jnz 1b" : "+r"(turns) : : "cc");
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    best = TURNS / ns > best ? TURNS / ns : best;
  }
  return best;
}

/* 1 if both compute the same outputs of the first stripe. */
int tune_same(const gfs_map *first, const gfs_map *second) {
  size_t bytes = state.outputs * state.pitch;
  uint8_t *outputs = state.pool + state.inputs * state.pitch;
  uint8_t *kept = malloc(2 * bytes);
  if (kept == NULL)
    return 0;
  memcpy(kept, outputs, bytes);
  call(first, 0, 0);
  memcpy(kept + bytes, outputs, bytes);
  memcpy(outputs, kept, bytes);
  call(second, 0, 0);
  int same = memcmp(outputs, kept + bytes, bytes) == 0;
  free(kept);
  return same;
}
