#include "variants.h"

#include <string.h>

#include "baked.h"

/* A row of the list in adaptive.inc. */
typedef struct row {
  gfsmith_kernel *run;
  gfs_isa_id isa;
  unsigned inputs; /* 0: any */
  unsigned outputs;
  unsigned matrix; /* position in gfs_baked_matrices; GFS_MATRIX_none: a kernel with tables */
  bool rows;
  bool shuffled;
  unsigned lines;
  gfs_store store;
  gfs_format format;
} row;

#define WALK_IS_ROWS_rows true
#define WALK_IS_ROWS_together false

/* The last row has no kernel, because the list may be empty. */
static const row rows[] = {
#define GFSMITH_ADAPTIVE(symbol, isa, inputs, outputs, matrix, walk, shuffled, lines, store,       \
                         format)                                                                   \
  {symbol,                                                                                         \
   GFS_ISA_##isa,                                                                                  \
   inputs,                                                                                         \
   outputs,                                                                                        \
   GFS_MATRIX_##matrix,                                                                            \
   WALK_IS_ROWS_##walk,                                                                            \
   shuffled,                                                                                       \
   lines,                                                                                          \
   GFS_STORE_##store,                                                                              \
   GFS_FORMAT_##format},
#define GFSMITH_ADAPTIVE_ORDER(lines, ...)
#include "adaptive.inc"
#undef GFSMITH_ADAPTIVE
#undef GFSMITH_ADAPTIVE_ORDER
    {NULL, 0, 0, 0, GFS_MATRIX_none, false, false, 0, GFS_STORE_temporal, GFS_FORMAT_none}};

/* The orders of visits for shuffled lines, by number of lines; the last entry has lines = 0. */
static const struct {
  unsigned lines;
  uint8_t line[GFS_LINES_MAX];
} shuffled_orders[] = {
#define GFSMITH_ADAPTIVE(symbol, isa, inputs, outputs, matrix, walk, shuffled, lines, store, format)
#define GFSMITH_ADAPTIVE_ORDER(lines, ...) {lines, {__VA_ARGS__}},
#include "adaptive.inc"
#undef GFSMITH_ADAPTIVE
#undef GFSMITH_ADAPTIVE_ORDER
    {0, {0}}};

static gfs_walk_kind walk_of(const row *r) {
  if (r->rows)
    return r->shuffled ? GFS_WALK_SHUFFLED : r->lines == 1 ? GFS_WALK_ROW : GFS_WALK_ROWS4;
  return r->shuffled ? GFS_WALK_BLOCK_SHUFFLED : GFS_WALK_BLOCK;
}

/* False if the list has no such shuffled order, or there are too many lines. */
static bool order_of(const row *r, gfs_order *order) {
  *order = (gfs_order){.lines = (uint8_t)r->lines, .rows = r->rows};
  if (r->lines > GFS_LINES_MAX)
    return false;
  for (unsigned n = 0; n < r->lines; n++)
    order->line[n] = (uint8_t)n;
  if (!r->shuffled)
    return true;
  for (unsigned n = 0; shuffled_orders[n].lines > 0; n++)
    if (shuffled_orders[n].lines == r->lines) {
      memcpy(order->line, shuffled_orders[n].line, r->lines);
      return true;
    }
  return false;
}

/* Use the row's kernel if it is the first for its traversal order and type of stores; both types
 * have the same order and pass. */
static void take_variant(gfs_variants *variants, const row *r) {
  gfs_variant *variant = &variants->variant[walk_of(r)];
  bool known = r->matrix != GFS_MATRIX_none;
  gfs_order order;
  if (variant->run[r->store] != NULL || !order_of(r, &order))
    return;
  bool other = variant->run[!r->store] != NULL;
  if (other && (variant->known != known || memcmp(&variant->order, &order, sizeof order) != 0))
    return;
  variant->order = order;
  variant->known = known;
  variant->run[r->store] = r->run;
}

/* Is the row a kernel for the known matrix of the first dot pass of the map? */
static bool knows(const gfs_map *map, const row *r) {
  return r->matrix != GFS_MATRIX_none && map->pass->known == &gfs_baked_matrices[r->matrix];
}

/* Does the row's kernel compute the first pass with tables of the map? */
static bool reads_tables(const gfs_map *map, const gfs_isa *isa, const row *r) {
  return r->matrix == GFS_MATRIX_none && r->format == isa->format &&
         r->outputs == map->pass[map->dots].outputs && (r->inputs == 0 || r->inputs == map->inputs);
}

void gfs_variants_find(gfs_variants *variants, const gfs_isa *isa, const gfs_map *map,
                       gfsmith_kernel *(*table)[2]) {
  memset(variants, 0, sizeof *variants);
  variants->map = map;
  variants->table = table;
  table[0][GFS_STORE_temporal] = table[0][GFS_STORE_streaming] = NULL;
  const gfs_pass *tables = map->pass + map->dots;
  for (const row *r = rows; r->run != NULL; r++)
    if (r->isa == isa->id && knows(map, r))
      take_variant(variants, r);
  for (const row *r = rows; r->run != NULL; r++)
    if (r->isa == isa->id && reads_tables(map, isa, r))
      take_variant(variants, r);
  for (unsigned n = 1; n < map->mads; n++) {
    table[n][GFS_STORE_temporal] = gfs_dispatch_kernel(isa, GFS_OPERATION_dot, map->inputs,
                                                       tables[n].outputs, GFS_PATH_cached);
    table[n][GFS_STORE_streaming] = gfs_dispatch_kernel(isa, GFS_OPERATION_dot, map->inputs,
                                                        tables[n].outputs, GFS_PATH_distant);
  }
}

bool gfs_variants_have(const gfs_variants *variants, gfs_policy policy) {
  if (policy.walk < GFS_WALK_PIPELINED)
    return true;
  return variants->variant[policy.walk]
             .run[policy.streaming ? GFS_STORE_streaming : GFS_STORE_temporal] != NULL;
}
