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
 * Calls work on slices (wide_slices.h). */
#include "gfsmith_wide.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "executor.h"
#include "locator.h"
#include "prefetch.h"
#include "products.h"
#include "sizes.h"
#include "stream.h"
#include "transform.h"
#include "wide_rows.h"
#include "wide_slices.h"

enum { FETCH_ROWS = 4 /* distance of prefetching */ };

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
  uint32_t *spectra; /* of logarithms (locator.h), twice as many numbers as points */
  gfs_transform transform;
  gfs_products to_rows, to_shards; /* of shards, with results in the basis of rows, and back */
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
  if (status == GFSMITH_OK)
    status = gfs_products_create(&wide->to_rows, &wide->transform, &wide->field, GFS_BASIS_SHARD,
                                 GFS_BASIS_ROW);
  if (status == GFSMITH_OK)
    status = gfs_products_create(&wide->to_shards, &wide->transform, &wide->field, GFS_BASIS_ROW,
                                 GFS_BASIS_SHARD);
  if (status != GFSMITH_OK)
    return status;
  wide->spectra = malloc(2 * sizeof(uint32_t) * wide->points);
  if (wide->spectra == NULL)
    return GFSMITH_ENOMEM;
  gfs_locator_prepare(&wide->field, wide->points, wide->spectra);
  return GFSMITH_OK;
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
  gfs_products_destroy(&wide->to_shards);
  gfs_products_destroy(&wide->to_rows);
  gfs_transform_destroy(&wide->transform);
  free(wide->spectra);
  gfs_cantor_destroy(&wide->field);
  free(wide);
}

/* A task: its memory for rows, at a multiple of a cache line, and its slices. */
typedef struct wide_work {
  const gfs_transform *transform;
  uint8_t *start;
  size_t most; /* bytes of a row */
  gfs_wide_slice now, next;
} wide_work;

/* The rows of the work from `first` on, which is 0, or a power of two as the number of rows. */
static gfs_rows rows_of(const wide_work *w, size_t first) {
  const gfs_rows most = gfs_rows_at(w->transform, w->most, w->start);
  return gfs_rows_at(w->transform, w->now.stripes * w->now.part, gfs_rows_row(&most, first));
}

static void clear(const gfs_rows *rows, size_t from, size_t to) {
  memset(gfs_rows_row(rows, from), 0, gfs_rows_offset(rows, to) - gfs_rows_offset(rows, from));
}

/* A call of which each task takes the next slice until there is none. */
typedef struct wide_call wide_call;
struct wide_call {
  void (*slice)(const wide_call *call, const wide_work *work);
  const gfsmith_wide *wide;
  const uint8_t *const *data; /* or all shards */
  uint8_t *const *results;    /* parities, or all shards */
  unsigned sources, targets;  /* pointers of a stripe in both arrays */
  const struct wide_loss *lost;
  gfs_wide_slices slices;
  uint8_t *memory;
  size_t stride; /* bytes of a task's memory */
  atomic_size_t next;
};

/* Prefetch a slice of a shard; `shard` points to its address in the first stripe. */
static void fetch_slice(const wide_call *call, const gfs_wide_slice *slice,
                        const uint8_t *const *shard) {
  for (size_t s = slice->stripe; s < slice->stripe + slice->stripes; s++)
    gfs_prefetch_second(shard[s * call->sources] + slice->at, slice->part);
}

/* Before the row of a shard is read: prefetch the row FETCH_ROWS behind it, that of the shard
 * `later` unless it is NULL, and the next slice of this shard. */
static void fetch_rows(const wide_call *call, const wide_work *w, const uint8_t *const *shard,
                       const uint8_t *const *later) {
  if (call->slices.fetched && later != NULL)
    fetch_slice(call, &w->now, later);
  if (call->slices.kept)
    fetch_slice(call, &w->next, shard);
}

static void load(const wide_call *call, const wide_work *w, const gfs_rows *rows, size_t i,
                 const uint8_t *const *shard, const uint8_t *const *later) {
  fetch_rows(call, w, shard, later);
  gfs_wide_load(call->wide->code->layout, &call->wide->transform, rows, i, &w->now, shard,
                call->sources);
}

static void store(const wide_call *call, const wide_work *w, const gfs_rows *rows, size_t i,
                  uint8_t *const *shard) {
  gfs_wide_store(call->wide->code->layout, &call->wide->transform, rows, i, &w->now, shard,
                 call->targets, call->slices.streamed);
}

/* The shards of the rows of a transform, in the first stripe. */
typedef struct wide_shards {
  const wide_call *call;
  const wide_work *work;
  const uint8_t *const *from;
  unsigned given; /* the number of the shards `from` */
  uint8_t *const *to;
} wide_shards;

/* The shard whose row is prefetched when that of another one is read, NULL if there is none. */
static const uint8_t *const *later_shard(const wide_shards *s, unsigned row) {
  return row + FETCH_ROWS < s->given ? s->from + row + FETCH_ROWS : NULL;
}

static void load_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_shards *s = context;
  load(s->call, s->work, rows, row, s->from + row, later_shard(s, row));
  gfs_transform_change(&s->call->wide->transform, rows, row);
}

static bool load_lines(const void *context, const gfs_end *end) {
  const wide_shards *s = context;
  const gfs_wide_slice *slice = &s->work->now;
  if (!gfs_wide_has_lines(s->call->wide->code->layout, slice))
    return false;
  const uint8_t *lines[GFS_END_ROWS];
  for (unsigned i = 0; i < GFS_END_ROWS; i++) {
    const uint8_t *const *shard = s->from + end->row + i;
    fetch_rows(s->call, s->work, shard, later_shard(s, end->row + i));
    lines[i] = shard[slice->stripe * s->call->sources] + slice->at;
  }
  gfs_end_read(end, lines);
  return true;
}

static void store_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_shards *s = context;
  gfs_transform_change(&s->call->wide->transform, rows, row);
  store(s->call, s->work, rows, row, s->to + row);
}

static bool store_lines(const void *context, const gfs_end *end) {
  const wide_shards *s = context;
  const gfs_wide_slice *slice = &s->work->now;
  if (!gfs_wide_has_lines(s->call->wide->code->layout, slice))
    return false;
  uint8_t *const *shards = s->to + slice->stripe * s->call->targets + end->row;
  uint8_t *lines[GFS_END_ROWS];
  for (unsigned i = 0; i < GFS_END_ROWS; i++)
    lines[i] = shards[i] + slice->at;
  gfs_wide_store_lines(end, lines, s->call->slices.streamed);
  return true;
}

/* The data determine a polynomial in block 0; the parities are its values in the other blocks. */
static void encode_behind(const wide_call *call, const wide_work *w) {
  const gfsmith_wide *wide = call->wide;
  const gfs_transform *t = &wide->transform;
  const unsigned block = wide->block;
  gfs_rows polynomial = rows_of(w, 0);
  const wide_shards from = {.call = call, .work = w, .from = call->data, .given = wide->k};
  clear(&polynomial, wide->k, block);
  gfs_transform_inverse(t, &polynomial, block, 0, wide->k,
                        (gfs_row_visit){load_row, &from, load_lines});
  for (unsigned first = 0; first < wide->m; first += block) {
    bool last = wide->m - first <= block;
    gfs_rows rows = last ? polynomial : rows_of(w, block);
    if (!last)
      memcpy(rows.start, polynomial.start, gfs_rows_offset(&rows, block));
    const wide_shards to = {.call = call, .work = w, .to = call->results + first};
    gfs_transform_forward(t, &rows, block, block + first, 0, last ? wide->m - first : block,
                          (gfs_row_visit){store_row, &to, store_lines});
  }
}

/* The parities are the values in block 0 of the sum of the polynomials that the blocks of data
 * determine. */
static void encode_before(const wide_call *call, const wide_work *w) {
  const gfsmith_wide *wide = call->wide;
  const gfs_transform *t = &wide->transform;
  const unsigned block = wide->block;
  gfs_rows sum = rows_of(w, 0);
  for (unsigned first = 0; first < wide->k; first += block) {
    unsigned given = wide->k - first < block ? wide->k - first : block;
    gfs_rows rows = first == 0 ? sum : rows_of(w, block);
    const wide_shards s = {.call = call, .work = w, .from = call->data + first, .given = given};
    clear(&rows, given, block);
    gfs_transform_inverse(t, &rows, block, block + first, given,
                          (gfs_row_visit){load_row, &s, load_lines});
    if (first > 0)
      gfs_transform_add(t, &sum, 0, &rows, 0, block);
  }
  const wide_shards s = {.call = call, .work = w, .to = call->results};
  gfs_transform_forward(t, &sum, block, 0, 0, wide->m, (gfs_row_visit){store_row, &s, store_lines});
}

static void run_slices(void *argument, unsigned index) {
  wide_call *call = argument;
  wide_work work = {.transform = &call->wide->transform,
                    .start = call->memory + index * call->stride,
                    .most = gfs_wide_row_most(&call->slices)};
  size_t n;
  while ((n = atomic_fetch_add_explicit(&call->next, 1, memory_order_relaxed)) <
         call->slices.total) {
    work.now = gfs_wide_slice_at(&call->slices, n);
    work.next = gfs_wide_slice_at(&call->slices, n + call->slices.tasks);
    call->slice(call, &work);
  }
  if (call->slices.streamed)
    gfs_stream_fence();
}

/* Stripes whose pointers stand one stripe after the other. */
typedef struct wide_stripes {
  size_t len, count;
} wide_stripes;

/* Compute all slices, in this thread or in those of an executor. Errors: GFSMITH_EINVAL (more bytes
 * than addresses), GFSMITH_ENOMEM. */
static gfsmith_status run_wide(wide_call *call, const wide_stripes *stripes, size_t rows,
                               const gfsmith_executor *executor) {
  if (stripes->len > SIZE_MAX / stripes->count)
    return GFSMITH_EINVAL;
  const unsigned shards = call->wide->k + call->wide->m;
  const gfs_wide_demand demand = {.shards = shards,
                                  .sources = call->sources,
                                  .rows = rows,
                                  .gapped = call->wide->transform.fours.fft16 != NULL};
  bool shared = gfs_is_shared(executor, shards, stripes->len * stripes->count);
  call->slices =
      gfs_wide_slices_of(stripes->len, stripes->count, &demand, shared ? executor->workers : 1);
  const gfs_rows most = gfs_rows_at(&call->wide->transform, gfs_wide_row_most(&call->slices), NULL);
  const size_t tasks = call->slices.tasks, bytes = gfs_rows_offset(&most, rows);
  call->stride = (bytes + GFS_CACHE_LINE - 1) / GFS_CACHE_LINE * GFS_CACHE_LINE;
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

static gfsmith_status encode_wide(const gfsmith_wide *wide, const gfsmith_executor *executor,
                                  const wide_stripes *stripes, const uint8_t *const *data,
                                  uint8_t *const *parity) {
  const size_t len = stripes->len, count = stripes->count;
  if (wide == NULL || len % wide->code->granule != 0)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  if (!gfs_all_given(data, count * wide->k) ||
      !gfs_all_given((const uint8_t *const *)parity, count * wide->m))
    return GFSMITH_EINVAL;
  bool one_block = shards_behind(wide) <= wide->block;
  wide_call call = {.slice = wide->data_first ? encode_behind : encode_before,
                    .wide = wide,
                    .data = data,
                    .results = parity,
                    .sources = wide->k,
                    .targets = wide->m};
  return run_wide(&call, stripes, (size_t)wide->block * (one_block ? 1 : 2), executor);
}

gfsmith_status gfsmith_wide_encode_stripes(const gfsmith_wide *wide, size_t len, size_t count,
                                           const uint8_t *const *data, uint8_t *const *parity) {
  return encode_wide(wide, NULL, &(wide_stripes){len, count}, data, parity);
}

gfsmith_status gfsmith_wide_encode_parallel(const gfsmith_wide *wide,
                                            const gfsmith_executor *executor, size_t len,
                                            const uint8_t *const *data, uint8_t *const *parity) {
  return encode_wide(wide, executor, &(wide_stripes){len, 1}, data, parity);
}

gfsmith_status gfsmith_wide_encode(const gfsmith_wide *wide, size_t len, const uint8_t *const *data,
                                   uint8_t *const *parity) {
  return gfsmith_wide_encode_stripes(wide, len, 1, data, parity);
}

/* A loss: the wanted shards, those that the repair reads, and tables of a constant for each of
 * them. The repair uses the points 0 .. points - 1. */
typedef struct wide_loss {
  bool *wanted; /* k + m, only missing shards */
  bool *used;   /* k + m, only present shards: the data, and as many parities as data are missing */
  unsigned points; /* a power of two */
  unsigned from;   /* the points of the wanted shards are from .. to - 1 */
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

/* True if the polynomial's value at a point is not used. The points behind the data have the value
 * 0.
 */
static bool is_unknown(const gfsmith_wide *wide, const wide_loss *lost, unsigned point) {
  unsigned shard = shard_of(wide, point);
  if (shard == wide->k + wide->m)
    return (point < wide->block) != wide->data_first;
  return !lost->used[shard];
}

/* Used shards are multiplied by the locator, wanted ones are divided by its derivative. */
static gfsmith_status fill_constants(const gfsmith_wide *wide, wide_loss *lost) {
  const unsigned n = lost->points, group = wide->field.order - 1;
  uint32_t *logarithm = malloc(n * sizeof *logarithm);
  bool *unknown = calloc(n, sizeof *unknown);
  if (logarithm == NULL || unknown == NULL) {
    free(logarithm);
    free(unknown);
    return GFSMITH_ENOMEM;
  }
  for (unsigned point = 0; point < n; point++)
    unknown[point] = is_unknown(wide, lost, point);
  gfs_locator(&wide->field, n, wide->spectra, unknown, logarithm);
  for (unsigned i = 0; i < wide->k + wide->m; i++) {
    if (!lost->used[i] && !lost->wanted[i])
      continue;
    unsigned exponent = logarithm[point_of(wide, i)];
    uint8_t *table = lost->tables + i * wide->transform.entry;
    if (lost->used[i])
      gfs_products_table(&wide->to_rows, wide->field.power[exponent], table);
    if (lost->wanted[i])
      gfs_products_table(&wide->to_shards, wide->field.power[(group - exponent) % group], table);
  }
  free(logarithm);
  free(unknown);
  return GFSMITH_OK;
}

/* The products of the elements of a row. */
static void multiply(const gfs_transform *t, const uint8_t *table, size_t bytes,
                     const uint8_t *from, uint8_t *to) {
  const size_t len = bytes / t->planes;
  const uint8_t *src[GFS_TRANSFORM_PLANES];
  uint8_t *dst[GFS_TRANSFORM_PLANES];
  for (unsigned p = 0; p < t->planes; p++) {
    src[p] = from + p * len;
    dst[p] = to + p * len;
  }
  t->dot(len, t->planes, table, src, dst);
}

/* The slice of a repair, the point of row 0, and a row for a shard. */
typedef struct wide_repair {
  const wide_call *call;
  const wide_work *work;
  unsigned first;
  const gfs_rows *one;
} wide_repair;

/* The pointer to the shard of a point in the first stripe, NULL if it is not used. */
static const uint8_t *const *used_shard(const wide_call *call, unsigned point) {
  unsigned shard = shard_of(call->wide, point);
  bool exists = shard < call->wide->k + call->wide->m && call->lost->used[shard];
  return exists ? call->data + shard : NULL;
}

static void fill_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_repair *r = context;
  const gfsmith_wide *wide = r->call->wide;
  const unsigned point = r->first + row;
  const uint8_t *const *shard = used_shard(r->call, point);
  if (shard == NULL) {
    clear(rows, row, row + 1);
    return;
  }
  const gfs_wide_slice *slice = &r->work->now;
  const uint8_t *const *later = used_shard(r->call, point + FETCH_ROWS), *from = r->one->start;
  if (gfs_wide_is_row(wide->code->layout, slice)) {
    fetch_rows(r->call, r->work, shard, later);
    from = shard[slice->stripe * r->call->sources] + slice->at;
  } else {
    load(r->call, r->work, r->one, 0, shard, later);
  }
  const uint8_t *table = r->call->lost->tables + shard_of(wide, point) * wide->transform.entry;
  multiply(&wide->transform, table, rows->bytes, from, gfs_rows_row(rows, row));
}

static void take_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_repair *r = context;
  const gfsmith_wide *wide = r->call->wide;
  const wide_loss *lost = r->call->lost;
  const gfs_wide_slice *slice = &r->work->now;
  const unsigned shard = shard_of(wide, r->first + row);
  if (shard == wide->k + wide->m || !lost->wanted[shard])
    return;
  uint8_t *const *result = r->call->results + shard;
  const bool is_row = gfs_wide_is_row(wide->code->layout, slice) && !r->call->slices.streamed;
  uint8_t *to = is_row ? result[slice->stripe * r->call->targets] + slice->at : r->one->start;
  multiply(&wide->transform, lost->tables + shard * wide->transform.entry, rows->bytes,
           gfs_rows_row(rows, row), to);
  if (!is_row)
    store(r->call, r->work, r->one, 0, result);
}

/* Rows = the coefficients of the polynomial that has the values of the product at `size` points.
 * Returns false if all values are 0. */
static bool interpolate_product(const wide_repair *r, const gfs_rows *rows, unsigned size) {
  unsigned given = size;
  while (given > 0 && used_shard(r->call, r->first + given - 1) == NULL)
    given--;
  clear(rows, given, size);
  gfs_transform_inverse(&r->call->wide->transform, rows, size, r->first, given,
                        (gfs_row_visit){fill_row, r, NULL});
  return given > 0;
}

/* The product of the code's polynomial and the locator is known everywhere: it is 0 at the unknown
 * points. There its derivative, also with the product added, is the polynomial times the locator's
 * derivative.
 *
 * Let f and g have the values of the product on the two halves of the points, and let s be the
 * polynomial that is c on the first half and c + 1 on the second one, with the derivative 1. The
 * product is f + (s + c) (f + g), its derivative on the first half f' + f + g, on the second one
 * g' + f + g. So if all wanted points are in one half, the coefficients of f' + f + g or g' + g + f
 * are sufficient. */
static void reconstruct_slice(const wide_call *call, const wide_work *w) {
  const wide_loss *lost = call->lost;
  const gfs_transform *t = &call->wide->transform;
  const unsigned half = lost->points / 2, base = lost->from < half ? 0 : half;
  const bool is_half = lost->from >= half || lost->to <= half;
  const unsigned size = is_half ? half : lost->points;
  gfs_rows rows = rows_of(w, base), other = rows_of(w, half - base), one = rows_of(w, lost->points);
  const wide_repair r = {.call = call, .work = w, .first = base, .one = &one};
  const wide_repair behind = {.call = call, .work = w, .first = half - base, .one = &one};
  const gfs_rows *sum = is_half ? &other : &rows;
  bool is_zero = !interpolate_product(&r, &rows, size);
  if (is_half)
    interpolate_product(&behind, &other, half);
  if (!is_zero)
    gfs_transform_derive(t, sum, &rows, size);
  gfs_transform_forward(t, sum, size, base, lost->from - base, lost->to - base,
                        (gfs_row_visit){take_row, &r, NULL});
}

/* Use all present data, and the first present parities. */
static void choose_used(const gfsmith_wide *wide, const bool *present, bool *used) {
  unsigned missing = 0;
  for (unsigned i = 0; i < wide->k; i++) {
    used[i] = present[i];
    missing += !present[i];
  }
  for (unsigned i = wide->k; i < wide->k + wide->m; i++) {
    used[i] = present[i] && missing > 0;
    missing -= used[i];
  }
}

/* Fill in all but the tables. The points include those of the data. */
static void find_loss(const gfsmith_wide *wide, const bool *present, const bool *wanted,
                      wide_loss *lost) {
  unsigned last = 0;
  lost->from = wide->points;
  lost->to = 0;
  choose_used(wide, present, lost->used);
  for (unsigned i = 0; i < wide->k + wide->m; i++) {
    lost->wanted[i] = !present[i] && (wanted == NULL || wanted[i]);
    unsigned point = point_of(wide, i);
    if (lost->wanted[i] && point < lost->from)
      lost->from = point;
    if (lost->wanted[i] && point >= lost->to)
      lost->to = point + 1;
    if ((i < wide->k || lost->wanted[i] || lost->used[i]) && point > last)
      last = point;
  }
  lost->points = power_of_two(last + 1);
}

/* Are the pointers of all present and wanted shards given? */
static bool repair_given(const gfsmith_wide *wide, const bool *present, const bool *wanted,
                         size_t count, uint8_t *const *shards) {
  const unsigned total = wide->k + wide->m;
  for (size_t s = 0; s < count; s++)
    for (unsigned i = 0; i < total; i++)
      if ((present[i] || wanted[i]) && shards[s * total + i] == NULL)
        return false;
  return true;
}

/* Rebuild the wanted shards, of which there are some. */
static gfsmith_status rebuild(const gfsmith_wide *wide, const gfsmith_executor *executor,
                              const wide_stripes *stripes, uint8_t *const *shards,
                              wide_loss *lost) {
  gfsmith_status status = fill_constants(wide, lost);
  if (status != GFSMITH_OK)
    return status;
  const unsigned total = wide->k + wide->m;
  wide_call call = {.slice = reconstruct_slice,
                    .wide = wide,
                    .data = (const uint8_t *const *)shards,
                    .results = shards,
                    .sources = total,
                    .targets = total,
                    .lost = lost};
  return run_wide(&call, stripes, (size_t)lost->points + 1, executor);
}

/* Are there more missing shards than parities? */
static bool too_many_missing(const gfsmith_wide *wide, const bool *present) {
  unsigned missing = 0;
  for (unsigned i = 0; i < wide->k + wide->m; i++)
    missing += !present[i];
  return missing > wide->m;
}

static gfsmith_status reconstruct_wide(const gfsmith_wide *wide, const gfsmith_executor *executor,
                                       const wide_stripes *stripes, uint8_t *const *shards,
                                       const bool *present, const bool *wanted) {
  const bool empty = stripes->len == 0 || stripes->count == 0;
  if (wide == NULL || present == NULL || stripes->len % wide->code->granule != 0 ||
      (!empty && shards == NULL))
    return GFSMITH_EINVAL;
  if (too_many_missing(wide, present))
    return GFSMITH_ETOOMANY;
  if (empty)
    return GFSMITH_OK;
  const unsigned total = wide->k + wide->m;
  uint8_t *memory = malloc(total * (wide->transform.entry + 2 * sizeof(bool)));
  if (memory == NULL)
    return GFSMITH_ENOMEM;
  bool *flags = (bool *)(memory + total * wide->transform.entry);
  wide_loss lost = {.wanted = flags, .used = flags + total, .tables = memory};
  find_loss(wide, present, wanted, &lost);
  gfsmith_status status = GFSMITH_OK;
  if (!repair_given(wide, present, lost.wanted, stripes->count, shards))
    status = GFSMITH_EINVAL;
  else if (lost.to > 0)
    status = rebuild(wide, executor, stripes, shards, &lost);
  free(memory);
  return status;
}

gfsmith_status gfsmith_wide_reconstruct_stripes(const gfsmith_wide *wide, size_t len, size_t count,
                                                uint8_t *const *shards, const bool *present,
                                                const bool *wanted) {
  return reconstruct_wide(wide, NULL, &(wide_stripes){len, count}, shards, present, wanted);
}

gfsmith_status gfsmith_wide_reconstruct_parallel(const gfsmith_wide *wide,
                                                 const gfsmith_executor *executor, size_t len,
                                                 uint8_t *const *shards, const bool *present,
                                                 const bool *wanted) {
  return reconstruct_wide(wide, executor, &(wide_stripes){len, 1}, shards, present, wanted);
}

gfsmith_status gfsmith_wide_reconstruct(const gfsmith_wide *wide, size_t len,
                                        uint8_t *const *shards, const bool *present,
                                        const bool *wanted) {
  return gfsmith_wide_reconstruct_stripes(wide, len, 1, shards, present, wanted);
}
