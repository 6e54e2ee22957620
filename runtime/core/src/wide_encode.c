#include <string.h>

#include "codec.h"
#include "wide_call.h"

/* The shards of the rows of a transform, in the first stripe. */
typedef struct wide_shards {
  const gfs_wide_call *call;
  const gfs_wide_work *work;
  const uint8_t *const *from;
  unsigned given; /* the number of the shards `from` */
  uint8_t *const *to;
} wide_shards;

/* The shard whose row is prefetched when that of another one is read, NULL if there is none. */
static const uint8_t *const *later_shard(const wide_shards *s, unsigned row) {
  const unsigned later = row + s->call->slices.ahead;
  return later < s->given ? s->from + later : NULL;
}

static void load_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_shards *s = context;
  gfs_wide_read(s->call, s->work, rows, row, s->from + row, later_shard(s, row));
  gfs_transform_change(&s->call->wide->transform, rows, row);
}

static bool load_lines(const void *context, const gfs_end *end) {
  const wide_shards *s = context;
  const gfs_wide_slice *slice = &s->work->now;
  if (!gfs_wide_has_lines(s->call->wide->code->layout, slice))
    return false;
  const uint8_t *const *shard = s->from + end->row;
  for (unsigned i = 0; s->call->slices.fetched && i < GFS_END_ROWS; i++)
    gfs_wide_fetch(s->call, s->work, shard + i, later_shard(s, end->row + i));
  gfs_end_read(end, shard + slice->stripe * s->call->sources, slice->at);
  return true;
}

static void store_row(const void *context, const gfs_rows *rows, unsigned row) {
  const wide_shards *s = context;
  gfs_transform_change(&s->call->wide->transform, rows, row);
  gfs_wide_write(s->call, s->work, rows, row, s->to + row);
}

static bool store_lines(const void *context, const gfs_end *end) {
  const wide_shards *s = context;
  const gfs_wide_slice *slice = &s->work->now;
  if (!gfs_wide_has_lines(s->call->wide->code->layout, slice))
    return false;
  uint8_t *const *shard = s->to + slice->stripe * s->call->targets + end->row;
  gfs_wide_store_lines(end, shard, slice->at, s->call->slices.stores);
  return true;
}

/* The data determine a polynomial in block 0; the parities are its values in the other blocks. */
static void encode_behind(const gfs_wide_call *call, const gfs_wide_work *w) {
  const gfsmith_wide *wide = call->wide;
  const gfs_transform *t = &wide->transform;
  const unsigned block = wide->block;
  gfs_rows polynomial = gfs_wide_rows_of(w, 0);
  const wide_shards from = {.call = call, .work = w, .from = call->data, .given = wide->k};
  gfs_transform_inverse(t, &polynomial, block, 0, wide->k,
                        (gfs_row_visit){load_row, &from, load_lines});
  for (unsigned first = 0; first < wide->m; first += block) {
    bool last = wide->m - first <= block;
    gfs_rows rows = last ? polynomial : gfs_wide_rows_of(w, block);
    if (!last)
      memcpy(rows.start, polynomial.start, gfs_rows_offset(&rows, block));
    const wide_shards to = {.call = call, .work = w, .to = call->results + first};
    gfs_transform_forward(t, &rows, block, block + first, 0, last ? wide->m - first : block,
                          (gfs_row_visit){store_row, &to, store_lines});
  }
}

/* The parities are the values in block 0 of the sum of the polynomials that the blocks of data
 * determine. */
static void encode_before(const gfs_wide_call *call, const gfs_wide_work *w) {
  const gfsmith_wide *wide = call->wide;
  const gfs_transform *t = &wide->transform;
  const unsigned block = wide->block;
  const wide_shards to = {.call = call, .work = w, .to = call->results};
  const gfs_row_visit take = {store_row, &to, store_lines};
  gfs_rows sum = gfs_wide_rows_of(w, 0);
  if (wide->k <= block) {
    const wide_shards s = {.call = call, .work = w, .from = call->data, .given = wide->k};
    gfs_transform_extend(t, &sum, block, wide->k, (gfs_row_visit){load_row, &s, load_lines},
                         wide->m, take);
    return;
  }
  for (unsigned first = 0; first < wide->k; first += block) {
    unsigned given = wide->k - first < block ? wide->k - first : block;
    gfs_rows rows = first == 0 ? sum : gfs_wide_rows_of(w, block);
    const wide_shards s = {.call = call, .work = w, .from = call->data + first, .given = given};
    gfs_transform_inverse(t, &rows, block, block + first, given,
                          (gfs_row_visit){load_row, &s, load_lines});
    if (first > 0)
      gfs_transform_add(t, &sum, 0, &rows, 0, block);
  }
  gfs_transform_forward(t, &sum, block, 0, 0, wide->m, take);
}

static gfsmith_status encode_wide(const gfsmith_wide *wide, const gfsmith_executor *executor,
                                  const gfs_wide_stripes *stripes, const uint8_t *const *data,
                                  uint8_t *const *parity) {
  const size_t len = stripes->len, count = stripes->count;
  if (wide == NULL || len % wide->code->granule != 0)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  if (!gfs_all_given(data, count * wide->k) ||
      !gfs_all_given((const uint8_t *const *)parity, count * wide->m))
    return GFSMITH_EINVAL;
  bool one_block = gfs_wide_shards_behind(wide) <= wide->block;
  gfs_wide_call call = {.slice = wide->data_first ? encode_behind : encode_before,
                        .wide = wide,
                        .data = data,
                        .results = parity,
                        .sources = wide->k,
                        .targets = wide->m,
                        .one_block = one_block};
  return gfs_wide_run(&call, stripes, (size_t)wide->block * (one_block ? 1 : 2), executor);
}

gfsmith_status gfsmith_wide_encode_stripes(const gfsmith_wide *wide, size_t len, size_t count,
                                           const uint8_t *const *data, uint8_t *const *parity) {
  return encode_wide(wide, NULL, &(gfs_wide_stripes){len, count}, data, parity);
}

gfsmith_status gfsmith_wide_encode_parallel(const gfsmith_wide *wide,
                                            const gfsmith_executor *executor, size_t len,
                                            const uint8_t *const *data, uint8_t *const *parity) {
  return encode_wide(wide, executor, &(gfs_wide_stripes){len, 1}, data, parity);
}

gfsmith_status gfsmith_wide_encode(const gfsmith_wide *wide, size_t len, const uint8_t *const *data,
                                   uint8_t *const *parity) {
  return gfsmith_wide_encode_stripes(wide, len, 1, data, parity);
}
