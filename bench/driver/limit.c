/* The limit: a loop that reads every byte of the k sources and writes every byte of the m outputs
 * without computation. The OR only keeps the compiler from dropping the loads; it uses other
 * execution ports.
 */
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "contenders.h"
#include "loops.h"

typedef uint64_t vector __attribute__((vector_size(64), aligned(1), may_alias));

enum { LINE = sizeof(vector), AHEAD = 512, STEP_BUDGET = 8192, STEP_MIN = 128 };

/* Kind of the stores: into the cache, around it in quarters of a line, or around it in whole lines.
 * */
typedef enum manner { PLAIN, STREAM, WIDE } manner;
typedef enum path { COLUMNS, BLOCKS, ROWS, SHAPE, STEPS } path;

#define INLINE static inline __attribute__((always_inline))

INLINE void put(uint8_t *to, const vector *value, manner how) {
  if (how == PLAIN) {
    *(vector *)to = *value;
    return;
  }
  if (how == WIDE) {
    __asm__ volatile("vmovntdq %1, %0" : "=m"(*(vector *)to) : "v"(*value));
    return;
  }
  union {
    vector whole;
    __m128i part[4];
  } as = {.whole = *value};
  for (unsigned q = 0; q < 4; q++)
    _mm_stream_si128((__m128i *)to + q, as.part[q]);
}

INLINE void collect(vector *seen, const uint8_t *from, manner how) {
  if (how != PLAIN)
    __builtin_prefetch(from + AHEAD, 0, 3);
  *seen |= *(const vector *)from;
}

/* One vector of every shard, then the next one, from `at` on and at most to `until`. */
INLINE size_t touch_columns(const bench_job *job, uint8_t **shard, size_t at, size_t until,
                            manner reads, manner writes) {
  for (; at + LINE <= until; at += LINE) {
    vector seen = {0};
    for (unsigned j = 0; j < job->k; j++)
      collect(&seen, shard[j] + at, reads);
    for (unsigned i = job->k; i < job->k + job->m; i++)
      put(shard[i] + at, &seen, writes);
  }
  return at;
}

/* Four vectors of every shard, then the next four. (Four variables: GCC leaves arrays in memory.)
 */
INLINE size_t touch_blocks(const bench_job *job, uint8_t **shard, manner how) {
  size_t at = 0;
  for (; at + 4 * LINE <= job->len; at += 4 * LINE) {
    vector a = {0}, b = {0}, c = {0}, d = {0};
    for (unsigned j = 0; j < job->k; j++) {
      const uint8_t *from = shard[j] + at;
      collect(&a, from, how);
      collect(&b, from + LINE, how);
      collect(&c, from + 2 * LINE, how);
      collect(&d, from + 3 * LINE, how);
    }
    for (unsigned i = job->k; i < job->k + job->m; i++) {
      uint8_t *to = shard[i] + at;
      put(to, &a, how);
      put(to + LINE, &b, how);
      put(to + 2 * LINE, &c, how);
      put(to + 3 * LINE, &d, how);
    }
  }
  return touch_columns(job, shard, at, job->len, how, how);
}

/* touch_columns for a constant shape: no loops over shards, as in a kernel for a fixed
 * shape. */
INLINE void touch_shape(const bench_job *job, uint8_t **shard, unsigned k, unsigned m, manner how) {
  for (size_t at = 0; at + LINE <= job->len; at += LINE) {
    vector seen = {0};
#pragma GCC unroll 32
    for (unsigned j = 0; j < k; j++)
      collect(&seen, shard[j] + at, how);
#pragma GCC unroll 32
    for (unsigned i = k; i < k + m; i++)
      put(shard[i] + at, &seen, how);
  }
}

#define SHAPES(X) X(4, 2) X(8, 4) X(8, 8) X(10, 4) X(12, 4) X(16, 8) X(17, 3) X(28, 4)

INLINE size_t touch_shapes(const bench_job *job, uint8_t **shard, manner how) {
#define CASE(K, M)                                                                                 \
  if (job->k == K && job->m == M)                                                                  \
    touch_shape(job, shard, K, M, how);
  SHAPES(CASE)
#undef CASE
  return job->len / LINE * LINE;
}

static bool has_shape(unsigned k, unsigned m) {
#define CASE(K, M) || (k == K && m == M)
  return false SHAPES(CASE);
#undef CASE
}

/* One shard from end to end, then the next: sequential accesses, which DRAM serves fastest. */
INLINE size_t touch_rows(const bench_job *job, uint8_t **shard, manner how) {
  vector seen = {0};
  size_t whole = job->len / LINE * LINE;
  for (unsigned j = 0; j < job->k; j++)
    for (size_t at = 0; at < whole; at += LINE)
      collect(&seen, shard[j] + at, how);
  for (unsigned i = job->k; i < job->k + job->m; i++)
    for (size_t at = 0; at < whole; at += LINE)
      put(shard[i] + at, &seen, how);
  return whole;
}

/* Steps of some lines of every shard. Before a step is touched, the sources of the next step are
 * prefetched, one after the other and into the second level. */
INLINE size_t touch_steps(const bench_job *job, uint8_t **shard, manner how) {
  size_t step = STEP_BUDGET / (job->k + job->m) / STEP_MIN * STEP_MIN;
  step = step < STEP_MIN ? STEP_MIN : step;
  size_t at = 0, fetched = 0;
  while (at + LINE <= job->len) {
    size_t until = fetched + (fetched == 0 ? 2 : 1) * step;
    until = until < job->len ? until : job->len;
    for (unsigned j = 0; j < job->k; j++)
      for (size_t b = fetched; b < until; b += LINE)
        __builtin_prefetch(shard[j] + b, 0, 2);
    fetched = until;
    size_t end = at + step < job->len ? at + step : job->len;
    at = touch_columns(job, shard, at, end, PLAIN, how);
  }
  return at;
}

/* loops_touch_rest with masks. */
__attribute__((target("avx512f,avx512bw"))) static void tail_masked(const bench_job *job,
                                                                    uint8_t **shard, size_t at) {
  __mmask64 mask = _cvtu64_mask64(~0ull >> (sizeof(vector) - (job->len - at)));
  __m512i seen = _mm512_setzero_si512();
  for (unsigned j = 0; j < job->k; j++)
    seen = _mm512_or_si512(seen, _mm512_maskz_loadu_epi8(mask, shard[j] + at));
  for (unsigned i = job->k; i < job->k + job->m; i++)
    _mm512_mask_storeu_epi8(shard[i] + at, mask, seen);
}

INLINE void touch(const bench_job *job, path path, manner how) {
  uint8_t *shard[BENCH_MAX_SHARDS];
  bool masks = __builtin_cpu_supports("avx512bw");
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    size_t at = path == SHAPE    ? touch_shapes(job, shard, how)
                : path == ROWS   ? touch_rows(job, shard, how)
                : path == BLOCKS ? touch_blocks(job, shard, how)
                : path == STEPS  ? touch_steps(job, shard, how)
                                 : touch_columns(job, shard, 0, job->len, how, how);
    if (at < job->len && masks)
      tail_masked(job, shard, at);
    else if (at < job->len)
      loops_touch_rest(job, shard, at);
  }
  if (how != PLAIN)
    _mm_sfence();
}

#define CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))

#define TOUCH(name, path, how)                                                                     \
  CLONES static void name(const bench_job *job) { touch(job, path, how); }

TOUCH(columns, COLUMNS, PLAIN)
TOUCH(blocks, BLOCKS, PLAIN)
TOUCH(rows, ROWS, PLAIN)
TOUCH(shape, SHAPE, PLAIN)
TOUCH(columns_stream, COLUMNS, STREAM)
TOUCH(blocks_stream, BLOCKS, STREAM)
TOUCH(rows_stream, ROWS, STREAM)
TOUCH(steps, STEPS, PLAIN)
TOUCH(steps_stream, STEPS, STREAM)
TOUCH(shape_stream, SHAPE, STREAM)

/* With AVX-512 only. */
#define TOUCH_WIDE(name, path)                                                                     \
  __attribute__((target("arch=x86-64-v4"))) static void name(const bench_job *job) {               \
    touch(job, path, WIDE);                                                                        \
  }

TOUCH_WIDE(rows_wide, ROWS)
TOUCH_WIDE(shape_wide, SHAPE)
TOUCH_WIDE(steps_wide, STEPS)

static const struct {
  const char *variant;
  touch_fn *touch;
} MANNERS[] = {{"columns", columns},
               {"blocks", blocks},
               {"rows", rows},
               {"shape", shape},
               {"columns-stream", columns_stream},
               {"blocks-stream", blocks_stream},
               {"rows-stream", rows_stream},
               {"shape-stream", shape_stream},
               {"steps", steps},
               {"steps-stream", steps_stream},
               {"rows-wide", rows_wide},
               {"shape-wide", shape_wide},
               {"steps-wide", steps_wide}};

static const char *open_limit(void **out, const bench_spec *spec) {
  if (strncmp(spec->variant, "shape", 5) == 0 && !has_shape(spec->k, spec->m))
    return "no loop for this shape";
  if (strstr(spec->variant, "-wide") != NULL && !__builtin_cpu_supports("avx512f"))
    return "no AVX-512 on this CPU";
  for (size_t n = 0; n < sizeof MANNERS / sizeof *MANNERS; n++)
    if (strcmp(MANNERS[n].variant, spec->variant) == 0) {
      *out = (void *)&MANNERS[n].touch;
      return NULL;
    }
  *out = (void *)loops_find(spec->variant);
  return *out != NULL ? NULL : "no such variant";
}

static void run(void *manner_at, const bench_job *job) { (*(touch_fn *const *)manner_at)(job); }

static void close_limit(void *opaque) { (void)opaque; }

const peer_api limit_contender = {open_limit, run, close_limit};
