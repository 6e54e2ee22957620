/* transform_calls.c: a library that records the calls of kernels that transform.c makes.
 *
 * Kernels only write their arguments to a list. Rows have addresses that no process has, so a
 * transform that accessed one of their bytes itself would crash: the calls are the same for all
 * data. */
#include <stdlib.h>
#include <string.h>

#include "transform.h"

enum { MOST = GFS_ADDED_MOST /* shards of a call */ };

/* The operations of records that are no calls of kernels: the function of a row, whose number is k,
 * and zeros for rows. */
enum { VISIT = 100, CLEAR = 101 };

typedef struct call {
  uint64_t operation, len, k, table;
  uint64_t src[MOST], dst[MOST];
} call;

/* A copy of a table that a call builds for itself. */
typedef struct kept_table {
  struct kept_table *before;
  uint8_t bytes[];
} kept_table;

static struct {
  call *calls;
  size_t count, room;
  gfs_isa isa;
  bool four, sixteen, lines, scaled;
  kept_table *tables; /* until record_close */
  gfs_cantor field;
  gfs_transform transform;
  gfs_rows rows;
} record;

static call *next_call(uint64_t operation) {
  if (record.count == record.room) {
    record.room = 2 * record.room + 1024;
    record.calls = realloc(record.calls, record.room * sizeof *record.calls);
    if (record.calls == NULL)
      abort();
  }
  call *made = &record.calls[record.count++];
  *made = (call){.operation = operation};
  return made;
}

/* The number of row 0 of a transform, which is the context of its visitor. */
static unsigned number_of(const void *context) {
  const unsigned *number = context;
  return *number;
}

static const unsigned NO_ROWS = 0;

static void visit(const void *context, const gfs_rows *rows, unsigned row) {
  (void)rows;
  next_call(VISIT)->k = number_of(context) + row;
}

void gfs_rows_clear(const gfs_rows *rows, size_t from, size_t to) {
  call *made = next_call(CLEAR);
  made->len = gfs_rows_offset(rows, to) - gfs_rows_offset(rows, from);
  made->k = 1;
  made->dst[0] = (uint64_t)(uintptr_t)gfs_rows_row(rows, from);
}

/* The lines of a row are the bytes from LINES_AT on of a shard without memory; of every third group
 * of four rows there are none. */
enum { LINES_AT = 128 };

static uintptr_t shard_of(unsigned row) {
  return (uintptr_t)(UINT64_C(1) << 61) + 4096 * row - LINES_AT;
}

/* The products of a row in lines: bytes that tell the row. */
enum { PRODUCT_BYTES = 32 };

/* The shards of four rows in lines, and their products. */
typedef struct ends {
  uint8_t *shard[GFS_END_ROWS];
  uint8_t bytes[GFS_END_ROWS][PRODUCT_BYTES];
  const uint8_t *scale[GFS_END_ROWS];
} ends;

static void fill_ends(unsigned row, ends *e) {
  for (unsigned i = 0; i < GFS_END_ROWS; i++) {
    e->shard[i] = (uint8_t *)shard_of(row + i);
    for (unsigned n = 0; n < PRODUCT_BYTES; n++)
      e->bytes[i][n] = (uint8_t)(37 * (row + i) + n);
    e->scale[i] = e->bytes[i];
  }
}

static bool has_lines(unsigned row) { return row / GFS_END_ROWS % 3 != 2; }

static bool read_lines(const void *context, const gfs_end *end) {
  ends e;
  fill_ends(number_of(context) + end->row, &e);
  const uint8_t *const *shard = (const uint8_t *const *)e.shard;
  if (has_lines(end->row) && record.scaled)
    gfs_end_read_scaled(end, shard, LINES_AT, e.scale);
  else if (has_lines(end->row))
    gfs_end_read(end, shard, LINES_AT);
  return has_lines(end->row);
}

static bool write_lines(const void *context, const gfs_end *end) {
  ends e;
  fill_ends(number_of(context) + end->row, &e);
  if (has_lines(end->row) && record.scaled)
    gfs_end_write_scaled(end, e.shard, LINES_AT, e.scale);
  else if (has_lines(end->row))
    gfs_end_write(end, e.shard, LINES_AT);
  return has_lines(end->row);
}

static void kernel(gfs_operation operation, size_t len, size_t k, const uint8_t *table,
                   const uint8_t *const *src, uint8_t *const *dst) {
  call *made = next_call(operation);
  made->len = len;
  made->k = k;
  made->table = (uint64_t)(uintptr_t)table;
  for (size_t i = 0; i < k; i++)
    made->src[i] = (uint64_t)(uintptr_t)src[i];
  for (size_t i = 0; i < (operation == GFS_OPERATION_mad ? 1 : k); i++)
    made->dst[i] = (uint64_t)(uintptr_t)dst[i];
}

#define KERNEL(name)                                                                               \
  static void record_##name(size_t len, size_t k, const uint8_t *table, const uint8_t *const *src, \
                            uint8_t *const *dst) {                                                 \
    kernel(GFS_OPERATION_##name, len, k, table, src, dst);                                         \
  }
KERNEL(mad)
KERNEL(dot)
KERNEL(fft)
KERNEL(ifft)
KERNEL(fft4)
KERNEL(ifft4)
KERNEL(fft16)
KERNEL(ifft16)
KERNEL(refft16)
KERNEL(fft4lines)
KERNEL(ifft4lines)

/* Scaled calls build their tables, of three matrices and four products, for themselves. */
static const uint8_t *keep_table(const uint8_t *table) {
  const size_t bytes = (3 + GFS_END_ROWS) * record.transform.entry;
  kept_table *kept = malloc(sizeof *kept + bytes);
  if (kept == NULL)
    abort();
  kept->before = record.tables;
  record.tables = kept;
  memcpy(kept->bytes, table, bytes);
  return kept->bytes;
}

#define SCALED(name)                                                                               \
  static void record_##name(size_t len, size_t k, const uint8_t *table, const uint8_t *const *src, \
                            uint8_t *const *dst) {                                                 \
    kernel(GFS_OPERATION_##name, len, k, keep_table(table), src, dst);                             \
  }
SCALED(fft4scaled)
SCALED(ifft4scaled)

const gfs_isa *gfs_dispatch_isa(void) { return &record.isa; }

gfsmith_kernel *gfs_dispatch_kernel(const gfs_isa *isa, gfs_operation operation, unsigned inputs,
                                    unsigned outputs, gfs_path path) {
  (void)isa;
  (void)outputs;
  (void)path;
  switch (operation) {
  case GFS_OPERATION_mad:
    return inputs > 0 || record.four ? record_mad : NULL;
  case GFS_OPERATION_dot:
    return record_dot;
  case GFS_OPERATION_fft:
    return record_fft;
  case GFS_OPERATION_ifft:
    return record_ifft;
  case GFS_OPERATION_fft4:
    return record.four ? record_fft4 : NULL;
  case GFS_OPERATION_ifft4:
    return record.four ? record_ifft4 : NULL;
  case GFS_OPERATION_fft16:
    return record.sixteen ? record_fft16 : NULL;
  case GFS_OPERATION_ifft16:
    return record.sixteen ? record_ifft16 : NULL;
  case GFS_OPERATION_refft16:
    return record.sixteen ? record_refft16 : NULL;
  case GFS_OPERATION_fft4lines:
    return record.lines ? record_fft4lines : NULL;
  case GFS_OPERATION_ifft4lines:
    return record.lines ? record_ifft4lines : NULL;
  case GFS_OPERATION_fft4scaled:
    return record.scaled ? record_fft4scaled : NULL;
  case GFS_OPERATION_ifft4scaled:
    return record.scaled ? record_ifft4scaled : NULL;
  default:
    return NULL;
  }
}

/* Set up transforms of at most n points, of rows of `bytes` bytes in runs of 2^run. */
int record_open(unsigned width, unsigned polynomial, unsigned format, bool four, bool sixteen,
                bool lines, bool scaled, unsigned n, size_t bytes, unsigned run) {
  record.isa.format = (gfs_format)format;
  record.four = four;
  record.sixteen = sixteen;
  record.lines = lines;
  record.scaled = scaled;
  record.rows =
      (gfs_rows){.bytes = bytes, .run = run, .start = (uint8_t *)(uintptr_t)(UINT64_C(1) << 60)};
  gfsmith_status status = gfs_cantor_create(&record.field, width, polynomial);
  if (status != GFSMITH_OK)
    return status;
  return gfs_transform_create(&record.transform, &record.field, width / 8, n);
}

void record_close(void) {
  gfs_transform_destroy(&record.transform);
  gfs_cantor_destroy(&record.field);
  while (record.tables != NULL) {
    kept_table *before = record.tables->before;
    free(record.tables);
    record.tables = before;
  }
}

/* Let the rows be as many bytes as caches keep, or as they do not. */
void record_kept(bool kept) { record.transform.kept = kept ? SIZE_MAX : 0; }

/* The number of the calls, which `calls` points to until the next function. */
static size_t finish(const call **calls) {
  size_t count = record.count;
  *calls = record.calls;
  record.count = 0;
  return count;
}

static gfs_row_visit reading_or_writing(const unsigned *number,
                                        bool (*lines)(const void *, const gfs_end *)) {
  return (gfs_row_visit){.visit = visit, .context = number, .visit_end = lines};
}

size_t record_forward(const call **calls, unsigned size, unsigned first, unsigned from,
                      unsigned to) {
  gfs_transform_forward(&record.transform, &record.rows, size, first, from, to,
                        reading_or_writing(&NO_ROWS, write_lines));
  return finish(calls);
}

size_t record_inverse(const call **calls, unsigned size, unsigned first, unsigned given) {
  gfs_transform_inverse(&record.transform, &record.rows, size, first, given,
                        reading_or_writing(&NO_ROWS, read_lines));
  return finish(calls);
}

size_t record_extend(const call **calls, unsigned size, unsigned given, unsigned to) {
  gfs_transform_extend(&record.transform, &record.rows, size, given,
                       reading_or_writing(&NO_ROWS, read_lines), to,
                       reading_or_writing(&NO_ROWS, write_lines));
  return finish(calls);
}

/* The values of a second polynomial, of which the first `others` are not 0, are in the rows behind
 * those of the first one, if it is apart. */
size_t record_derived(const call **calls, unsigned size, unsigned first, unsigned given, bool apart,
                      unsigned others, unsigned from, unsigned to) {
  const gfs_rows own = record.rows,
                 behind = {.bytes = own.bytes, .run = own.run, .start = gfs_rows_row(&own, size)};
  const gfs_values values = {&own, first, given, reading_or_writing(&NO_ROWS, read_lines)};
  const gfs_values other = {&behind, first ^ size, others, reading_or_writing(&size, read_lines)};
  gfs_transform_derived(&record.transform, size, &values, apart ? &other : NULL,
                        (uint8_t *)(uintptr_t)(UINT64_C(3) << 60), from, to,
                        reading_or_writing(apart ? &size : &NO_ROWS, write_lines));
  return finish(calls);
}
