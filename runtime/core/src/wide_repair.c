#include <stdlib.h>

#include "locator.h"
#include "wide_call.h"

/* A loss: the wanted shards, those that the repair reads, and tables of a constant for each of
 * them. The repair uses the points 0 .. points - 1. */
typedef struct gfs_wide_loss {
  bool *wanted; /* k + m, only missing shards */
  bool *used;   /* k + m, only present shards: the data, and as many parities as data are missing */
  unsigned points; /* a power of two */
  unsigned from;   /* the points of the wanted shards are from .. to - 1 */
  unsigned to;
  uint8_t *tables; /* of shard i at i * entry */
} gfs_wide_loss;

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
static bool is_unknown(const gfsmith_wide *wide, const gfs_wide_loss *lost, unsigned point) {
  unsigned shard = shard_of(wide, point);
  if (shard == wide->k + wide->m)
    return (point < wide->block) != wide->data_first;
  return !lost->used[shard];
}

/* Used shards are multiplied by the locator, wanted ones are divided by its derivative. */
static gfsmith_status fill_constants(const gfsmith_wide *wide, gfs_wide_loss *lost) {
  const unsigned n = lost->points, group = wide->field.order - 1;
  uint32_t *constant = malloc(n * sizeof *constant);
  bool *unknown = calloc(n, sizeof *unknown);
  if (constant == NULL || unknown == NULL) {
    free(constant);
    free(unknown);
    return GFSMITH_ENOMEM;
  }
  for (unsigned point = 0; point < n; point++)
    unknown[point] = is_unknown(wide, lost, point);
  gfs_locator(&wide->field, n, wide->spectra, unknown, constant);
  /* A loop of its own, so that loads from the table of powers do not wait for one another. */
  for (unsigned point = 0; point < n; point++) {
    unsigned exponent = constant[point];
    constant[point] = wide->field.power[unknown[point] ? (group - exponent) % group : exponent];
  }
  for (unsigned i = 0; i < wide->k + wide->m; i++) {
    uint8_t *table = lost->tables + i * wide->transform.entry;
    if (lost->used[i])
      gfs_products_table(&wide->to_rows, constant[point_of(wide, i)], table);
    else if (lost->wanted[i])
      gfs_products_table(&wide->to_shards, constant[point_of(wide, i)], table);
  }
  free(constant);
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

/* The product by 0. */
static const uint8_t no_product[GFS_TRANSFORM_ENTRY_MAX];

/* The table of a used or wanted shard. */
static const uint8_t *repair_table(const gfs_wide_call *call, unsigned shard) {
  return call->lost->tables + shard * call->wide->transform.entry;
}

/* The slice of a repair, the point of row 0, and a row for a shard. */
typedef struct wide_repair {
  const gfs_wide_call *call;
  const gfs_wide_work *work;
  unsigned first;
  const gfs_rows *one;
} wide_repair;

/* The pointer to the shard of a point in the first stripe, NULL if it is not used. */
static const uint8_t *const *used_shard(const gfs_wide_call *call, unsigned point) {
  unsigned shard = shard_of(call->wide, point);
  bool exists = shard < call->wide->k + call->wide->m && call->lost->used[shard];
  return exists ? call->data + shard : NULL;
}

/* True if the kernels of products from and to lines compute the ends of the transforms. */
static bool has_scaled_lines(const gfs_wide_call *call, const gfs_wide_work *w) {
  const gfs_ends *ends = &call->wide->transform.ends;
  return ends->scaled_first != NULL && ends->scaled_last != NULL &&
         gfs_wide_has_lines(call->wide->code->layout, &w->now);
}

static void fill_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_repair *r = context;
  const gfsmith_wide *wide = r->call->wide;
  const unsigned point = r->first + row;
  const uint8_t *const *shard = used_shard(r->call, point);
  if (shard == NULL) {
    gfs_rows_clear(rows, row, row + 1);
    return;
  }
  const gfs_wide_slice *slice = &r->work->now;
  const bool fetched = r->call->slices.fetched;
  const uint8_t *const *later = fetched ? used_shard(r->call, point + r->call->slices.ahead) : NULL,
                       *from = r->one->start;
  if (gfs_wide_is_row(wide->code->layout, slice)) {
    if (fetched)
      gfs_wide_fetch(r->call, r->work, shard, later);
    from = shard[slice->stripe * r->call->sources] + slice->at;
  } else {
    gfs_wide_read(r->call, r->work, r->one, 0, shard, later);
  }
  const uint8_t *table = repair_table(r->call, shard_of(wide, point));
  multiply(&wide->transform, table, rows->bytes, from, gfs_rows_row(rows, row));
}

/* Of elements that are not used, the kernel reads another one, and multiplies it by 0. */
static bool fill_lines(const void *context, const gfs_end *end) {
  const wide_repair *r = context;
  const gfs_wide_call *call = r->call;
  const uint8_t *shard[GFS_END_ROWS], *scale[GFS_END_ROWS], *any = NULL;
  for (unsigned i = 0; i < GFS_END_ROWS; i++) {
    const unsigned point = r->first + end->row + i;
    const uint8_t *const *used = used_shard(call, point);
    shard[i] = NULL;
    scale[i] = no_product;
    if (used == NULL)
      continue;
    if (call->slices.fetched)
      gfs_wide_fetch(call, r->work, used, used_shard(call, point + call->slices.ahead));
    any = shard[i] = used[r->work->now.stripe * call->sources];
    scale[i] = repair_table(call, shard_of(call->wide, point));
  }
  if (any == NULL) {
    gfs_rows_clear(end->rows, end->row, end->row + GFS_END_ROWS);
    return true;
  }
  for (unsigned i = 0; i < GFS_END_ROWS; i++)
    shard[i] = shard[i] != NULL ? shard[i] : any;
  gfs_end_read_scaled(end, shard, r->work->now.at, scale);
  return true;
}

static void take_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_repair *r = context;
  const gfsmith_wide *wide = r->call->wide;
  const gfs_wide_loss *lost = r->call->lost;
  const gfs_wide_slice *slice = &r->work->now;
  const unsigned shard = shard_of(wide, r->first + row);
  if (shard == wide->k + wide->m || !lost->wanted[shard])
    return;
  uint8_t *const *result = r->call->results + shard;
  const bool is_row =
      gfs_wide_is_row(wide->code->layout, slice) && r->call->slices.stores == GFS_STREAM_NONE;
  uint8_t *to = is_row ? result[slice->stripe * r->call->targets] + slice->at : r->one->start;
  multiply(&wide->transform, repair_table(r->call, shard), rows->bytes, gfs_rows_row(rows, row),
           to);
  if (!is_row)
    gfs_wide_write(r->call, r->work, r->one, 0, result);
}

static bool take_lines(const void *context, const gfs_end *end) {
  const wide_repair *r = context;
  const gfs_wide_call *call = r->call;
  const gfsmith_wide *wide = call->wide;
  const gfs_wide_slice *slice = &r->work->now;
  uint8_t *to[GFS_END_ROWS];
  const uint8_t *scale[GFS_END_ROWS];
  bool any = false;
  for (unsigned i = 0; i < GFS_END_ROWS; i++) {
    const unsigned shard = shard_of(wide, r->first + end->row + i);
    const bool is_wanted = shard < wide->k + wide->m && call->lost->wanted[shard];
    to[i] = is_wanted ? call->results[slice->stripe * call->targets + shard] + slice->at : NULL;
    scale[i] = is_wanted ? repair_table(call, shard) : no_product;
    any |= is_wanted;
  }
  if (any)
    gfs_wide_store_scaled(end, to, scale, call->slices.stores);
  return true;
}

/* The rows up to `end`, in complete groups of those of gfs_ends if there are so many. */
static unsigned grouped(unsigned end, unsigned size) {
  unsigned rows = (end + GFS_END_ROWS - 1) / GFS_END_ROWS * GFS_END_ROWS;
  return rows < size ? rows : size;
}

/* The values of the product at the points of some rows, as those at the points from `first` on. */
static gfs_values product_values(const wide_repair *r, const gfs_rows *rows, unsigned size,
                                 unsigned first) {
  unsigned given = size;
  while (given > 0 && used_shard(r->call, r->first + given - 1) == NULL)
    given--;
  const bool lines = has_scaled_lines(r->call, r->work);
  return (gfs_values){.rows = rows,
                      .first = first,
                      .given = grouped(given, size),
                      .fill = {fill_row, r, lines ? fill_lines : NULL}};
}

/* The product of the code's polynomial and the locator is known everywhere: it is 0 at the unknown
 * points. There its derivative, also with the product added, is the polynomial times the locator's
 * derivative.
 *
 * Let f and g have the values of the product on the two halves of the points, and let s be the
 * polynomial that is c on the first half and c + 1 on the second one, with the derivative 1. The
 * product is f + (s + c) (f + g), its derivative on the first half f' + f + g, on the second one
 * g' + f + g. So if all wanted points are in one half, the coefficients of f' + f + g or g' + g + f
 * are sufficient.
 *
 * The addition of an element to all points exchanges the halves, and changes no derivative. So the
 * half with the wanted points, which has two transforms, has those from 0 on, whose constants are
 * smaller. */
static void reconstruct_slice(const gfs_wide_call *call, const gfs_wide_work *w) {
  const gfs_wide_loss *lost = call->lost;
  const unsigned half = lost->points / 2, base = lost->from < half ? 0 : half;
  const bool is_half = lost->from >= half || lost->to <= half;
  const unsigned size = is_half ? half : lost->points;
  gfs_rows rows = gfs_wide_rows_of(w, base), rest = gfs_wide_rows_of(w, half - base),
           one = gfs_wide_rows_of(w, lost->points);
  const wide_repair r = {.call = call, .work = w, .first = base, .one = &one};
  const wide_repair behind = {.call = call, .work = w, .first = half - base, .one = &one};
  const gfs_values own = product_values(&r, &rows, size, 0);
  const gfs_values other = product_values(&behind, &rest, half, half);
  gfs_transform_derived(
      &call->wide->transform, size, &own, is_half ? &other : NULL, w->spare,
      (lost->from - base) / GFS_END_ROWS * GFS_END_ROWS, grouped(lost->to - base, size),
      (gfs_row_visit){take_row, &r, has_scaled_lines(call, w) ? take_lines : NULL});
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
                      gfs_wide_loss *lost) {
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
  lost->points = gfs_wide_power_of_two(last + 1);
}

/* Are the pointers of all present and wanted shards given? */
static bool repair_given(const gfsmith_wide *wide, const bool *present, const bool *wanted,
                         size_t count, uint8_t *const *shards) {
  const unsigned total = wide->k + wide->m;
  bool given = true; /* no branch depends on a flag: flags of random losses are not predictable */
  for (size_t s = 0; s < count; s++)
    for (unsigned i = 0; i < total; i++)
      given &= (shards[s * total + i] != NULL) | !(present[i] | wanted[i]);
  return given;
}

/* Rebuild the wanted shards, of which there are some. */
static gfsmith_status rebuild(const gfsmith_wide *wide, const gfsmith_executor *executor,
                              const gfs_wide_stripes *stripes, uint8_t *const *shards,
                              gfs_wide_loss *lost) {
  gfsmith_status status = fill_constants(wide, lost);
  if (status != GFSMITH_OK)
    return status;
  const unsigned total = wide->k + wide->m;
  gfs_wide_call call = {.slice = reconstruct_slice,
                        .wide = wide,
                        .data = (const uint8_t *const *)shards,
                        .results = shards,
                        .sources = total,
                        .targets = total,
                        .lost = lost};
  return gfs_wide_run(&call, stripes, (size_t)lost->points + 1, executor);
}

/* Are there more missing shards than parities? */
static bool too_many_missing(const gfsmith_wide *wide, const bool *present) {
  unsigned missing = 0;
  for (unsigned i = 0; i < wide->k + wide->m; i++)
    missing += !present[i];
  return missing > wide->m;
}

static gfsmith_status reconstruct_wide(const gfsmith_wide *wide, const gfsmith_executor *executor,
                                       const gfs_wide_stripes *stripes, uint8_t *const *shards,
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
  gfs_wide_loss lost = {.wanted = flags, .used = flags + total, .tables = memory};
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
  return reconstruct_wide(wide, NULL, &(gfs_wide_stripes){len, count}, shards, present, wanted);
}

gfsmith_status gfsmith_wide_reconstruct_parallel(const gfsmith_wide *wide,
                                                 const gfsmith_executor *executor, size_t len,
                                                 uint8_t *const *shards, const bool *present,
                                                 const bool *wanted) {
  return reconstruct_wide(wide, executor, &(gfs_wide_stripes){len, 1}, shards, present, wanted);
}

gfsmith_status gfsmith_wide_reconstruct(const gfsmith_wide *wide, size_t len,
                                        uint8_t *const *shards, const bool *present,
                                        const bool *wanted) {
  return gfsmith_wide_reconstruct_stripes(wide, len, 1, shards, present, wanted);
}
