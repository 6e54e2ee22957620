/* gfsmith_wide: Leopard's codes, that of reed-solomon-simd, and lch16. Points are numbered by their
 * coefficients in Cantor's basis and divided into blocks of a power of two.
 *
 * If the parities come first, block 0 has the parities and the following blocks the data; a block
 * has n = the least power of two >= m points. The points behind the data have the value 0; those of
 * block 0 behind the parities are never known.
 *
 * If the data come first, block 0 has the data and the following blocks the parities, and n is the
 * least power of two >= k. The points of block 0 behind the data have the value 0; those behind the
 * parities are never known.
 *
 * Calls work on slices: the same few bytes of every shard. */
#include "gfsmith_wide.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "executor.h"
#include "locator.h"
#include "path.h"
#include "prefetch.h"
#include "sizes.h"
#include "stream.h"
#include "transform.h"
#include "wide_rows.h"

enum {
  WORK_BYTES = 8 << 20,  /* of all rows of a slice, unless slices are shortest */
  KEPT_BYTES = 2 << 20,  /* of the next slices of all shards, if caches keep them */
  WORK_GOAL = 512 << 10, /* of those of long rows */
  LONG_ROW = 1024,
  FETCH_ROWS = 4,   /* distance of prefetching */
  SLICE_LEAST = 128 /* bytes of a shard: whole vectors of each plane */
};

typedef struct wide_code {
  const char *name;
  unsigned width, polynomial;
  unsigned granule; /* the length of every shard is a multiple of so many bytes */
  gfs_wide_layout layout;
  bool may_swap; /* the data come first if that makes the blocks smaller */
  const char *shapes;
} wide_code;

#define WIDE_QUOTED(number) #number
#define WIDE_TEXT(number) WIDE_QUOTED(number)
#define WIDE_SHAPES(few, many, points)                                                             \
  "k >= 1, m >= 1, k + m <= " WIDE_TEXT(                                                           \
      GFSMITH_WIDE_MAX_SHARDS) ", and the least power of two >= " few ", plus " many               \
                               ", at most " points

static const wide_code wide_codes[] = {
    {"leopard8", 8, 0x11d, GFSMITH_WIDE_GRANULE, GFS_WIDE_BYTES, false,
     WIDE_SHAPES("m", "k", "256")},
    {"leopard16", 16, 0x1002d, GFSMITH_WIDE_GRANULE, GFS_WIDE_HALVES, false,
     WIDE_SHAPES("m", "k", "65536")},
    {"reed_solomon_simd", 16, 0x1002d, 2, GFS_WIDE_HALVES, true,
     WIDE_SHAPES("min(k, m)", "max(k, m)", "65536")},
    {"lch16", 16, 0x1002d, 2, GFS_WIDE_WORDS, true, WIDE_SHAPES("min(k, m)", "max(k, m)", "65536")},
};

struct gfsmith_wide {
  const wide_code *code;
  unsigned k, m;
  bool data_first;
  unsigned block;  /* points of a block */
  unsigned points; /* the least power of two >= block + the shards behind block 0 */
  gfs_cantor field;
  gfs_transform transform;
};

static unsigned power_of_two(unsigned least) {
  unsigned power = 1;
  while (power < least)
    power *= 2;
  return power;
}

/* NULL for NULL, too. */
static const wide_code *find_code(const char *name) {
  if (name == NULL)
    return NULL;
  for (size_t n = 0; n < sizeof wide_codes / sizeof wide_codes[0]; n++)
    if (strcmp(wide_codes[n].name, name) == 0)
      return &wide_codes[n];
  return NULL;
}

size_t gfsmith_wide_granule(const char *code) {
  const wide_code *c = find_code(code);
  return c != NULL ? c->granule : 0;
}

const char *gfsmith_wide_shapes(const char *code) {
  const wide_code *c = find_code(code);
  return c != NULL ? c->shapes : NULL;
}

/* The number of shards in the blocks behind block 0. */
static unsigned shards_behind(const gfsmith_wide *wide) {
  return wide->data_first ? wide->m : wide->k;
}

/* Choose the points of the shards. If the block of data and that of parities have the same size,
 * both orders give the same code: the addition of an element exchanges the blocks, and it keeps the
 * differences of points. */
static void arrange(gfsmith_wide *wide) {
  unsigned data = power_of_two(wide->k), parity = power_of_two(wide->m);
  wide->data_first = wide->code->may_swap && data < parity;
  wide->block = wide->data_first ? data : parity;
  wide->points = power_of_two(wide->block + shards_behind(wide));
}

static gfsmith_status create_tables(gfsmith_wide *wide) {
  const wide_code *c = wide->code;
  gfsmith_status status = gfs_cantor_create(&wide->field, c->width, c->polynomial);
  if (status == GFSMITH_OK)
    status = gfs_transform_create(&wide->transform, &wide->field, c->width / 8, wide->points);
  return status;
}

bool gfsmith_wide_has_shape(const char *code, unsigned k, unsigned m) {
  const wide_code *c = find_code(code);
  if (c == NULL || k == 0 || m == 0 || k > GFSMITH_WIDE_MAX_SHARDS ||
      m > GFSMITH_WIDE_MAX_SHARDS - k)
    return false;
  gfsmith_wide shape = {.code = c, .k = k, .m = m};
  arrange(&shape);
  return shape.points <= 1u << c->width;
}

gfsmith_status gfsmith_wide_create(gfsmith_wide **out, const char *name, unsigned k, unsigned m) {
  if (out == NULL || !gfsmith_wide_has_shape(name, k, m))
    return GFSMITH_EINVAL;
  gfsmith_wide *made = calloc(1, sizeof *made);
  if (made == NULL)
    return GFSMITH_ENOMEM;
  made->code = find_code(name);
  made->k = k;
  made->m = m;
  arrange(made);
  gfsmith_status status = create_tables(made);
  if (status != GFSMITH_OK) {
    gfsmith_wide_destroy(made);
    return status;
  }
  *out = made;
  return GFSMITH_OK;
}

void gfsmith_wide_destroy(gfsmith_wide *wide) {
  if (wide == NULL)
    return;
  gfs_transform_destroy(&wide->transform);
  gfs_cantor_destroy(&wide->field);
  free(wide);
}

/* Memory of a task for the rows of a slice, at a multiple of a cache line. */
typedef struct wide_work {
  uint8_t *start;
  size_t slice; /* most bytes of a shard */
} wide_work;

/* The rows from `first` on of the work, for a slice of `part` bytes. */
static gfs_rows rows_of(const wide_work *w, size_t first, size_t part) {
  return (gfs_rows){.bytes = part, .start = w->start + first * w->slice};
}

static void clear(const gfs_rows *rows, size_t from, size_t to) {
  memset(rows->start + from * rows->bytes, 0, (to - from) * rows->bytes);
}

/* A call of which each task takes the next slice until there is none. */
typedef struct wide_call wide_call;
struct wide_call {
  void (*slice)(const wide_call *call, const wide_work *work, size_t at, size_t part);
  const gfsmith_wide *wide;
  const uint8_t *const *data;
  uint8_t *const *results; /* parities, or all shards */
  const struct wide_loss *lost;
  size_t len, size; /* of a shard, and of a slice of it */
  bool fetched;     /* prefetch slices of shards */
  bool streamed;    /* store results around the cache */
  size_t distance;  /* of the slice to prefetch, probably the task's next one */
  uint8_t *memory;
  size_t stride; /* bytes of a task's memory */
  atomic_size_t next;
};

static void fetch_slice(const wide_call *call, const uint8_t *shard, size_t at) {
  if (shard != NULL && at < call->len)
    gfs_prefetch_second(shard + at, gfs_least(call->size, call->len - at));
}

/* The row of a shard from `at` on. Prefetch the row FETCH_ROWS behind it, that of the shard `later`
 * unless it is NULL, and the next slice of this shard. */
static void load(const wide_call *call, const gfs_rows *rows, size_t i, const uint8_t *shard,
                 const uint8_t *later, size_t at) {
  if (call->fetched) {
    fetch_slice(call, later, at);
    fetch_slice(call, shard, at + call->distance);
  }
  gfs_wide_load(call->wide->code->layout, &call->wide->transform, rows, i, shard + at);
}

static void store(const wide_call *call, const gfs_rows *rows, size_t i, uint8_t *shard) {
  gfs_wide_store(call->wide->code->layout, &call->wide->transform, rows, i, shard, call->streamed);
}

/* The bytes from `at` on of some shards, those of the rows. */
typedef struct wide_slice {
  const wide_call *call;
  const uint8_t *const *from;
  unsigned given; /* the number of the shards `from` */
  uint8_t *const *to;
  size_t at;
} wide_slice;

static void load_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_slice *s = context;
  bool has_later = row + FETCH_ROWS < s->given;
  load(s->call, rows, row, s->from[row], has_later ? s->from[row + FETCH_ROWS] : NULL, s->at);
  gfs_transform_change(&s->call->wide->transform, rows, row);
}

static void store_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_slice *s = context;
  gfs_transform_change(&s->call->wide->transform, rows, row);
  store(s->call, rows, row, s->to[row] + s->at);
}

/* The data determine a polynomial in block 0; the parities are its values in the other blocks. */
static void encode_behind(const wide_call *call, const wide_work *w, size_t at, size_t part) {
  const gfsmith_wide *wide = call->wide;
  const gfs_transform *t = &wide->transform;
  const unsigned block = wide->block;
  gfs_rows polynomial = rows_of(w, 0, part);
  const wide_slice from = {.call = call, .from = call->data, .given = wide->k, .at = at};
  clear(&polynomial, wide->k, block);
  gfs_transform_inverse(t, &polynomial, block, 0, wide->k, (gfs_row_visit){load_row, &from});
  for (unsigned first = 0; first < wide->m; first += block) {
    bool last = wide->m - first <= block;
    gfs_rows rows = last ? polynomial : rows_of(w, block, part);
    if (!last)
      memcpy(rows.start, polynomial.start, block * part);
    const wide_slice to = {.call = call, .to = call->results + first, .at = at};
    gfs_transform_forward(t, &rows, block, block + first, 0, last ? wide->m - first : block,
                          (gfs_row_visit){store_row, &to});
  }
}

/* The parities are the values in block 0 of the sum of the polynomials that the blocks of data
 * determine. */
static void encode_before(const wide_call *call, const wide_work *w, size_t at, size_t part) {
  const gfsmith_wide *wide = call->wide;
  const gfs_transform *t = &wide->transform;
  const unsigned block = wide->block;
  gfs_rows sum = rows_of(w, 0, part);
  for (unsigned first = 0; first < wide->k; first += block) {
    unsigned given = wide->k - first < block ? wide->k - first : block;
    gfs_rows rows = first == 0 ? sum : rows_of(w, block, part);
    const wide_slice s = {.call = call, .from = call->data + first, .given = given, .at = at};
    clear(&rows, given, block);
    gfs_transform_inverse(t, &rows, block, block + first, given, (gfs_row_visit){load_row, &s});
    if (first > 0)
      gfs_transform_add(t, &sum, 0, &rows, 0, block);
  }
  const wide_slice s = {.call = call, .to = call->results, .at = at};
  gfs_transform_forward(t, &sum, block, 0, 0, wide->m, (gfs_row_visit){store_row, &s});
}

static void run_slices(void *argument, unsigned index) {
  wide_call *call = argument;
  const wide_work work = {.start = call->memory + index * call->stride, .slice = call->size};
  size_t count = (call->len + call->size - 1) / call->size, n;
  while ((n = atomic_fetch_add_explicit(&call->next, 1, memory_order_relaxed)) < count) {
    size_t at = n * call->size;
    call->slice(call, &work, at, gfs_least(call->size, call->len - at));
  }
  if (call->streamed)
    gfs_stream_fence();
}

/* Bytes of a shard in a slice, at most `most`, if there are at least so many slices. */
static size_t slice_size(size_t most, size_t len, size_t slices) {
  size_t share = (len + slices - 1) / slices + SLICE_LEAST - 1;
  size_t size = gfs_least(most, share) / SLICE_LEAST * SLICE_LEAST;
  return gfs_least(size < SLICE_LEAST ? SLICE_LEAST : size, len);
}

/* Shards of fewer bytes are assumed to be in a core's own cache, or in one that is almost as fast.
 */
static void choose_path(wide_call *call) {
  const unsigned shards = call->wide->k + call->wide->m;
  gfs_path path = gfs_path_of(GFSMITH_HINT_AUTO, shards, call->len);
  call->fetched = path != GFS_PATH_cached && call->len >= GFS_SHARED_BYTES / shards;
  call->streamed = GFS_STREAM_EXISTS && call->fetched && path >= GFS_PATH_distant;
}

/* Choose the slices of so many tasks. The next slice is prefetched if the caches keep it. Slices
 * are smaller then, so that a core's own cache has room for the next one, but calls of kernels for
 * shorter rows than LONG_ROW cost more than a larger slice. */
static void choose_slices(wide_call *call, size_t rows, size_t tasks) {
  const gfsmith_wide *wide = call->wide;
  size_t sources = wide->k + (call->lost != NULL ? wide->m : 0);
  size_t most = gfs_least(WORK_BYTES / rows, GFS_WIDE_SLICE_MOST), goal = WORK_GOAL / rows;
  goal = gfs_least(most, goal > LONG_ROW ? goal : LONG_ROW);
  bool kept = call->fetched && sources * goal <= KEPT_BYTES;
  call->size = slice_size(kept ? goal : most, call->len, tasks);
  call->distance = kept ? tasks * call->size : call->len;
  call->stride = (rows * call->size + GFS_CACHE_LINE - 1) / GFS_CACHE_LINE * GFS_CACHE_LINE;
}

/* Compute all slices, in this thread or in those of an executor. */
static gfsmith_status run_wide(wide_call *call, size_t rows, const gfsmith_executor *executor) {
  const gfsmith_wide *wide = call->wide;
  bool shared = gfs_is_shared(executor, wide->k + wide->m, call->len);
  size_t tasks = shared ? gfs_least(executor->workers, (call->len - 1) / SLICE_LEAST + 1) : 1;
  choose_path(call);
  choose_slices(call, rows, tasks);
  if (tasks > (SIZE_MAX - GFS_CACHE_LINE) / call->stride)
    return GFSMITH_ENOMEM;
  void *allocated = malloc(tasks * call->stride + GFS_CACHE_LINE);
  if (allocated == NULL)
    return GFSMITH_ENOMEM;
  call->memory = (uint8_t *)allocated + gfs_bytes_to_line(allocated);
  atomic_init(&call->next, 0);
  if (tasks > 1)
    executor->run(executor->context, (unsigned)tasks, run_slices, call);
  else
    run_slices(call, 0);
  free(allocated);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_wide_encode_parallel(const gfsmith_wide *wide,
                                            const gfsmith_executor *executor, size_t len,
                                            const uint8_t *const *data, uint8_t *const *parity) {
  if (wide == NULL || len % wide->code->granule != 0)
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (!gfs_all_given(data, wide->k) || !gfs_all_given((const uint8_t *const *)parity, wide->m))
    return GFSMITH_EINVAL;
  bool one_block = shards_behind(wide) <= wide->block;
  wide_call call = {.slice = wide->data_first ? encode_behind : encode_before,
                    .wide = wide,
                    .data = data,
                    .results = parity,
                    .len = len};
  return run_wide(&call, (size_t)wide->block * (one_block ? 1 : 2), executor);
}

gfsmith_status gfsmith_wide_encode(const gfsmith_wide *wide, size_t len, const uint8_t *const *data,
                                   uint8_t *const *parity) {
  return gfsmith_wide_encode_parallel(wide, NULL, len, data, parity);
}

/* A loss: the wanted shards, and tables of a constant for each present or wanted one. */
typedef struct wide_loss {
  const bool *present;
  bool *wanted;  /* k + m, only missing shards */
  unsigned from; /* the points of the wanted shards are from .. to - 1 */
  unsigned to;
  uint8_t *tables; /* of shard i at i * entry */
} wide_loss;

static unsigned point_of(const gfsmith_wide *wide, unsigned shard) {
  bool is_data = shard < wide->k;
  return (is_data ? shard : shard - wide->k) + (is_data == wide->data_first ? 0 : wide->block);
}

/* The shard of a point, k + m if it has none. */
static unsigned shard_of(const gfsmith_wide *wide, unsigned point) {
  bool is_first = point < wide->block, is_data = is_first == wide->data_first;
  unsigned index = is_first ? point : point - wide->block;
  if (index >= (is_data ? wide->k : wide->m))
    return wide->k + wide->m;
  return is_data ? index : wide->k + index;
}

/* Present shards are multiplied by the locator, wanted ones are divided by its derivative. */
static gfsmith_status fill_constants(const gfsmith_wide *wide, wide_loss *lost) {
  const unsigned n = wide->points, group = wide->field.order - 1;
  uint32_t *logarithm = malloc(2 * sizeof(uint32_t) * n);
  bool *unknown = calloc(n, sizeof *unknown);
  if (logarithm == NULL || unknown == NULL) {
    free(logarithm);
    free(unknown);
    return GFSMITH_ENOMEM;
  }
  for (unsigned i = point_of(wide, wide->k + wide->m - 1) + 1;
       i < (wide->data_first ? n : wide->block); i++)
    unknown[i] = true;
  for (unsigned i = 0; i < wide->k + wide->m; i++)
    unknown[point_of(wide, i)] = !lost->present[i];
  gfs_locator(&wide->field, n, unknown, logarithm, logarithm + n);
  for (unsigned i = 0; i < wide->k + wide->m; i++) {
    unsigned exponent = logarithm[point_of(wide, i)];
    gfs_basis from = GFS_BASIS_SHARD, to = GFS_BASIS_ROW;
    if (lost->wanted[i]) {
      exponent = (group - exponent) % group;
      from = GFS_BASIS_ROW;
      to = GFS_BASIS_SHARD;
    }
    if (lost->wanted[i] || lost->present[i])
      gfs_transform_table(&wide->transform, &wide->field, exponent, from, to,
                          lost->tables + i * wide->transform.entry);
  }
  free(logarithm);
  free(unknown);
  return GFSMITH_OK;
}

static void multiply(const gfs_transform *t, const uint8_t *table, const gfs_rows *from, size_t i,
                     const gfs_rows *to, size_t j) {
  const uint8_t *src[GFS_TRANSFORM_PLANES];
  uint8_t *dst[GFS_TRANSFORM_PLANES];
  for (unsigned p = 0; p < t->planes; p++) {
    src[p] = gfs_transform_plane(t, from, i, p);
    dst[p] = gfs_transform_plane(t, to, j, p);
  }
  t->dot(from->bytes / t->planes, t->planes, table, src, dst);
}

/* The bytes from `at` on of the shards, and a row for a part of one. */
typedef struct wide_repair {
  const wide_call *call;
  const gfs_rows *one;
  size_t at;
} wide_repair;

/* The shard of a point, NULL if it is missing. */
static const uint8_t *present_shard(const wide_call *call, unsigned point) {
  unsigned shard = shard_of(call->wide, point);
  bool exists = shard < call->wide->k + call->wide->m && call->lost->present[shard];
  return exists ? call->results[shard] : NULL;
}

static void fill_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_repair *r = context;
  const gfsmith_wide *wide = r->call->wide;
  const uint8_t *shard = present_shard(r->call, row);
  if (shard == NULL) {
    clear(rows, row, row + 1);
    return;
  }
  const uint8_t *later = r->call->fetched ? present_shard(r->call, row + FETCH_ROWS) : NULL;
  load(r->call, r->one, 0, shard, later, r->at);
  const uint8_t *table = r->call->lost->tables + shard_of(wide, row) * wide->transform.entry;
  multiply(&wide->transform, table, r->one, 0, rows, row);
}

static void take_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_repair *r = context;
  const gfsmith_wide *wide = r->call->wide;
  const wide_loss *lost = r->call->lost;
  unsigned shard = shard_of(wide, row);
  if (shard == wide->k + wide->m || !lost->wanted[shard])
    return;
  multiply(&wide->transform, lost->tables + shard * wide->transform.entry, rows, row, r->one, 0);
  store(r->call, r->one, 0, r->call->results[shard] + r->at);
}

/* The product of the code's polynomial and the locator is known everywhere: it is 0 at the unknown
 * points. There its derivative, also with the product added, is the polynomial times the locator's
 * derivative. */
static void reconstruct_slice(const wide_call *call, const wide_work *w, size_t at, size_t part) {
  const gfsmith_wide *wide = call->wide;
  const wide_loss *lost = call->lost;
  const gfs_transform *t = &wide->transform;
  const unsigned n = wide->points, given = wide->block + shards_behind(wide);
  gfs_rows rows = rows_of(w, 0, part), one = rows_of(w, n, part);
  const wide_repair r = {.call = call, .one = &one, .at = at};
  clear(&rows, given, n);
  gfs_transform_inverse(t, &rows, n, 0, given, (gfs_row_visit){fill_row, &r});
  gfs_transform_derive(t, &rows, n);
  gfs_transform_forward(t, &rows, n, 0, lost->from, lost->to, (gfs_row_visit){take_row, &r});
}

/* Fill the wanted shards and the range of their points. Errors as gfsmith_wide_reconstruct. */
static gfsmith_status find_loss(const gfsmith_wide *wide, uint8_t *const *shards,
                                const bool *wanted, wide_loss *lost) {
  lost->from = wide->points;
  lost->to = 0;
  for (unsigned i = 0; i < wide->k + wide->m; i++) {
    lost->wanted[i] = !lost->present[i] && (wanted == NULL || wanted[i]);
    if ((lost->present[i] || lost->wanted[i]) && shards[i] == NULL)
      return GFSMITH_EINVAL;
    unsigned point = point_of(wide, i);
    if (lost->wanted[i] && point < lost->from)
      lost->from = point;
    if (lost->wanted[i] && point >= lost->to)
      lost->to = point + 1;
  }
  return GFSMITH_OK;
}

/* Rebuild the wanted shards, of which there are some. */
static gfsmith_status rebuild(const gfsmith_wide *wide, const gfsmith_executor *executor,
                              size_t len, uint8_t *const *shards, wide_loss *lost) {
  gfsmith_status status = fill_constants(wide, lost);
  if (status != GFSMITH_OK)
    return status;
  wide_call call = {
      .slice = reconstruct_slice, .wide = wide, .results = shards, .lost = lost, .len = len};
  return run_wide(&call, (size_t)wide->points + 1, executor);
}

gfsmith_status gfsmith_wide_reconstruct_parallel(const gfsmith_wide *wide,
                                                 const gfsmith_executor *executor, size_t len,
                                                 uint8_t *const *shards, const bool *present,
                                                 const bool *wanted) {
  if (wide == NULL || present == NULL || len % wide->code->granule != 0 ||
      (len > 0 && shards == NULL))
    return GFSMITH_EINVAL;
  const unsigned total = wide->k + wide->m;
  unsigned missing = 0;
  for (unsigned i = 0; i < total; i++)
    missing += !present[i];
  if (missing > wide->m)
    return GFSMITH_ETOOMANY;
  if (len == 0)
    return GFSMITH_OK;
  uint8_t *memory = malloc(total * (wide->transform.entry + sizeof(bool)));
  if (memory == NULL)
    return GFSMITH_ENOMEM;
  wide_loss lost = {.present = present,
                    .wanted = (bool *)(memory + total * wide->transform.entry),
                    .tables = memory};
  gfsmith_status status = find_loss(wide, shards, wanted, &lost);
  if (status == GFSMITH_OK && lost.to > 0)
    status = rebuild(wide, executor, len, shards, &lost);
  free(memory);
  return status;
}

gfsmith_status gfsmith_wide_reconstruct(const gfsmith_wide *wide, size_t len,
                                        uint8_t *const *shards, const bool *present,
                                        const bool *wanted) {
  return gfsmith_wide_reconstruct_parallel(wide, NULL, len, shards, present, wanted);
}
