#include "passes.h"

#include <stdalign.h>
#include <string.h>

#include "baked.h"
#include "map.h"
#include "portable.h"
#include "remembered_kernels.h"
#include "sizes.h"
#include "table_entries.h"

/* Size of the tables on the stack: 2048 coefficients of 8 bytes, or 512 of 32. */
#define TABLE_BYTES 16384u

/* Most passes that run together, so that sources stay in cache between them. */
enum { PASSES = 16 };

/* A map on the stack. */
typedef union room {
  gfs_map map;
  unsigned char bytes[sizeof(gfs_map) + PASSES * sizeof(gfs_pass)];
} room;

/* Passes over all sources of a call that run together. */
typedef struct batch {
  const gfs_isal_call *call;
  const gfs_isa *isa;
  gfs_operation operation;
  gfs_path path;
  size_t entry; /* bytes */
  size_t first; /* first output of these passes within the call */
  size_t used;  /* bytes of tables in use */
  gfs_map *map; /* has space for PASSES */
  alignas(GFS_CACHE_LINE) uint8_t tables[TABLE_BYTES];
} batch;

static const uint8_t *entry_of(const gfs_isal_call *call, size_t output, size_t input) {
  return call->entries + (output * call->stride + input) * GFS_ISAL_ENTRY;
}

/* Remove all passes; the next one begins at this output of the call. */
static void clear(batch *b, size_t first) {
  b->first = first;
  b->used = 0;
  b->map->dots = 0;
  b->map->widest = 0;
  b->map->outputs = 0;
}

/* Run the passes over `inputs` sources from `from` on. */
static void run(batch *b, size_t from, size_t inputs) {
  gfs_map *map = b->map;
  const gfs_isal_call *call = b->call;
  const uint8_t *const *src = call->src + from;
  uint8_t *const *dst = call->dst + b->first;
  map->inputs = (unsigned)inputs;
  if (gfs_path_is_cached(b->path) && map->dots == 1)
    map->pass->kernel[b->path](call->len, inputs, map->pass->tables, src, dst);
  else if (map->dots > 0)
    gfs_map_apply_pieces(map, b->path, call->len, src, dst);
}

static gfs_pass *append(batch *b, unsigned outputs, gfsmith_kernel *kernel) {
  gfs_map *map = b->map;
  gfs_pass *pass = &map->pass[map->dots++];
  pass->kernel[b->path] = kernel;
  pass->traits = b->path == GFS_PATH_bulk ? gfs_baked_traits(kernel) : (gfs_traits){0};
  pass->wide = 0;
  pass->near = 0; /* a search for it would cost as much as it gains */
  pass->delayed = false;
  pass->tables = NULL;
  pass->first = map->outputs;
  pass->outputs = outputs;
  map->outputs += outputs;
  return pass;
}

/* Let the pass that has been appended use a kernel of more sources, if there is one and space for
 * its coefficients, which are 0 in all formats. */
static void widen(batch *b, gfs_pass *pass, size_t inputs) {
  unsigned wide = gfs_isal_wider(b->isa, inputs, pass->outputs);
  if (wide == 0)
    return;
  size_t bytes = (wide - inputs) * pass->outputs * b->entry;
  if (bytes > TABLE_BYTES - b->used)
    return;
  memset(b->tables + b->used, 0, bytes);
  b->used += bytes;
  pass->wide = wide;
  pass->wider = gfs_isal_kernel(b->isa, GFS_OPERATION_dot, wide, pass->outputs, b->path);
  if (b->map->widest < wide)
    b->map->widest = wide;
}

/* Append a pass with tables or with additions only: for the outputs from b->first + map->outputs
 * on, of `inputs` sources from `from` on. */
static void append_tables(batch *b, gfs_operation operation, unsigned outputs, size_t from,
                          size_t inputs) {
  const uint8_t *entries = entry_of(b->call, b->first + b->map->outputs, from);
  if (operation == GFS_OPERATION_dot && outputs == 1 && gfs_isal_all_ones(entries, inputs)) {
    gfsmith_kernel *sum = gfs_isal_kernel(b->isa, GFS_OPERATION_xor, inputs, 1, b->path);
    if (sum != NULL) {
      append(b, 1, sum);
      return;
    }
  }
  gfs_pass *pass = append(b, outputs, gfs_isal_kernel(b->isa, operation, inputs, outputs, b->path));
  pass->tables = b->tables + b->used;
  gfs_isal_gather(b->isa->format, entries, b->call->stride, inputs, outputs, b->tables + b->used);
  b->used += inputs * outputs * b->entry;
  if (operation != GFS_OPERATION_dot || b->path < GFS_PATH_distant)
    return;
  widen(b, pass, inputs);
  pass->delayed = pass->wide == 0 && gfs_isal_is_delayed(b->isa, inputs, outputs);
  if (pass->delayed)
    pass->kernel[GFS_PATH_nearby] =
        gfs_isal_kernel(b->isa, operation, inputs, outputs, GFS_PATH_nearby);
}

/* Compute outputs whose tables do not fit, or with more sources than a map allows: a part of the
 * sources at a time; every part but the first adds to the results. */
static void in_parts(batch *b, unsigned outputs, size_t first) {
  size_t fits = gfs_least(TABLE_BYTES / b->entry / outputs, GFSMITH_MAX_SHARDS);
  gfs_operation operation = b->operation;
  for (size_t from = 0, inputs; from < b->call->inputs; from += inputs) {
    inputs = gfs_least(b->call->inputs - from, fits);
    clear(b, first);
    append_tables(b, operation, outputs, from, inputs);
    run(b, from, inputs);
    operation = GFS_OPERATION_mad;
  }
}

/* Are the tables of this number of outputs too large for the buffer? */
static bool too_large(const batch *b, unsigned outputs) {
  size_t inputs = b->call->inputs;
  return inputs > GFSMITH_MAX_SHARDS || inputs * outputs * b->entry > TABLE_BYTES;
}

static bool has_kernel(const void *of, unsigned outputs) {
  const batch *b = of;
  if (too_large(b, outputs) &&
      gfs_isal_kernel(b->isa, GFS_OPERATION_mad, 0, outputs, GFS_PATH_cached) == NULL)
    return false;
  return gfs_isal_kernel(b->isa, b->operation, b->call->inputs, outputs, GFS_PATH_cached) != NULL;
}

/* Run the collected passes if there is no space for another one with this number of outputs and
 * bytes of tables. */
static void make_room(batch *b, unsigned outputs, size_t bytes) {
  const gfs_map *map = b->map;
  if (map->dots == PASSES || map->outputs + outputs > GFSMITH_MAX_SHARDS ||
      b->used + bytes > TABLE_BYTES) {
    run(b, 0, b->call->inputs);
    clear(b, b->first + map->outputs);
  }
}

/* Append the pass that begins at output `first`: a known matrix if there is one, else tables, else
 * plain C. Return its length. */
static unsigned next_pass(batch *b, size_t first) {
  const gfs_isal_call *call = b->call;
  size_t left = call->outputs - first;
  if (b->operation == GFS_OPERATION_dot) {
    const uint8_t *rows = entry_of(call, first, 0);
    const gfs_known_matrix *known = gfs_isal_known(b->isa, rows, call->inputs, left);
    if (known != NULL) {
      make_room(b, known->outputs, 0);
      append(b, known->outputs, gfs_isal_known_kernel(b->isa, known, b->path));
      return known->outputs;
    }
  }
  unsigned outputs = gfs_map_balanced(has_kernel, b, (unsigned)left);
  if (outputs > 0 && !too_large(b, outputs)) {
    make_room(b, outputs, call->inputs * outputs * b->entry);
    append_tables(b, b->operation, outputs, 0, call->inputs);
    return outputs;
  }
  run(b, 0, call->inputs);
  if (outputs > 0)
    in_parts(b, outputs, first);
  else
    gfs_isal_plain_output(call, b->operation, first);
  unsigned done = outputs > 0 ? outputs : 1;
  clear(b, first + done);
  return done;
}

void gfs_isal_apply_passes(const gfs_isal_call *call, gfs_operation operation, const gfs_isa *isa,
                           gfs_path path) {
  room made;
  batch b;
  b.call = call;
  b.isa = isa;
  b.operation = operation;
  b.path = path;
  b.entry = gfs_tables_entry(isa->format);
  b.map = &made.map;
  clear(&b, 0);
  for (size_t first = 0; first < call->outputs;)
    first += next_pass(&b, first);
  run(&b, 0, call->inputs);
}
