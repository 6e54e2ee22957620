/* The touch loops of a search, by lines of each source in turn, prefetch and stores.
 *
 * A name is "l8-p256T0-nt": eight lines of each source in turn, prefetched 256 bytes ahead into all
 * levels (NTA: into the first one, p0T0: not at all), stores around the cache (st: into it). */
#include "loops.h"

#include <immintrin.h>
#include <string.h>

typedef uint64_t vector __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint64_t half __attribute__((vector_size(32), aligned(1), may_alias));

enum { LINE = sizeof(vector) };
enum { T0, NTA }; /* kinds of prefetches */
/* Stores into the cache, or around it: compiled for AVX2, then for AVX-512. */
enum { ST, NT256, ST512, NT512 };

#define INLINE static inline __attribute__((always_inline))

INLINE void store(uint8_t *to, const vector *value, int how) {
  if (how == ST || how == ST512 || (uintptr_t)to % LINE != 0) {
    *(vector *)to = *value;
  } else if (how == NT512) {
    __asm__ volatile("vmovntdq %1, %0" : "=m"(*(vector *)to) : "v"(*value));
  } else {
    const half *part = (const half *)value;
    __asm__ volatile("vmovntdq %1, %0" : "=m"(*(half *)to) : "x"(part[0]));
    __asm__ volatile("vmovntdq %1, %0" : "=m"(*((half *)to + 1)) : "x"(part[1]));
  }
}

/* `lines` lines of every shard, then the next ones, up to `until`. Several sums, because a chain of
 * them would be slower than the loads. */
INLINE size_t touch_lines(const bench_job *job, uint8_t **shard, size_t at, unsigned lines,
                          size_t ahead, int hint, int how) {
  for (; at + lines * LINE <= job->len; at += lines * LINE) {
    vector a = {0}, b = {0};
    for (unsigned j = 0; j < job->k; j++) {
      const uint8_t *from = shard[j] + at;
#pragma GCC unroll 8
      for (unsigned n = 0; n < lines; n++) {
        if (ahead > 0 && hint == T0)
          __builtin_prefetch(from + n * LINE + ahead, 0, 3);
        else if (ahead > 0)
          __builtin_prefetch(from + n * LINE + ahead, 0, 0);
        if (n % 2 == 0)
          a |= *(const vector *)(from + n * LINE);
        else
          b |= *(const vector *)(from + n * LINE);
      }
    }
    a |= b;
    for (unsigned i = job->k; i < job->k + job->m; i++)
#pragma GCC unroll 8
      for (unsigned n = 0; n < lines; n++)
        store(shard[i] + at + n * LINE, &a, how);
  }
  return at;
}

void loops_touch_rest(const bench_job *job, uint8_t **shard, size_t at) {
  uint8_t seen[LINE] = {0};
  size_t left = job->len - at;
  for (unsigned j = 0; j < job->k; j++)
    for (size_t b = 0; b < left; b++)
      seen[b] |= shard[j][at + b];
  for (unsigned i = job->k; i < job->k + job->m; i++)
    memcpy(shard[i] + at, seen, left);
}

INLINE void touch(const bench_job *job, unsigned lines, size_t ahead, int hint, int how) {
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    size_t at = touch_lines(job, shard, 0, lines, ahead, hint, how);
    at = touch_lines(job, shard, at, 1, ahead, hint, how);
    if (at < job->len)
      loops_touch_rest(job, shard, at);
  }
  if (how == NT256 || how == NT512)
    _mm_sfence();
}

#define PREFETCHES(X, lines)                                                                       \
  X(lines, 0, T0)                                                                                  \
  X(lines, 128, T0)                                                                                \
  X(lines, 256, T0) X(lines, 512, T0) X(lines, 1024, T0) X(lines, 256, NTA) X(lines, 512, NTA)
#define LOOPS(X) PREFETCHES(X, 1) PREFETCHES(X, 2) PREFETCHES(X, 4) PREFETCHES(X, 8)

#define NAME(lines, ahead, hint, how) touch_##lines##_##ahead##hint##_##how
#define DEFINE_FOR(target_name, lines, ahead, hint, how)                                           \
  __attribute__((target(target_name))) static void NAME(lines, ahead, hint,                        \
                                                        how)(const bench_job *job) {               \
    touch(job, lines, ahead, hint, how);                                                           \
  }
#define DEFINE(lines, ahead, hint)                                                                 \
  DEFINE_FOR("avx2", lines, ahead, hint, ST)                                                       \
  DEFINE_FOR("avx2", lines, ahead, hint, NT256)                                                    \
  DEFINE_FOR("arch=x86-64-v4", lines, ahead, hint, ST512)                                          \
  DEFINE_FOR("arch=x86-64-v4", lines, ahead, hint, NT512)

LOOPS(DEFINE)

static const struct {
  const char *name;
  touch_fn *narrow, *wide; /* without and with AVX-512 */
} table[] = {
#define ROWS(lines, ahead, hint)                                                                   \
  {"l" #lines "-p" #ahead #hint "-st", NAME(lines, ahead, hint, ST),                               \
   NAME(lines, ahead, hint, ST512)},                                                               \
      {"l" #lines "-p" #ahead #hint "-nt", NAME(lines, ahead, hint, NT256),                        \
       NAME(lines, ahead, hint, NT512)},
    LOOPS(ROWS)};

touch_fn *const *loops_find(const char *variant) {
  for (size_t n = 0; n < sizeof table / sizeof *table; n++)
    if (strcmp(table[n].name, variant) == 0)
      return __builtin_cpu_supports("avx512bw") ? &table[n].wide : &table[n].narrow;
  return NULL;
}
