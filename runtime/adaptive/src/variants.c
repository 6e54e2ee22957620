#include "variants.h"

#include <string.h>

#include "pipelined.h"

/* The orders of visits for shuffled lines, by number of lines; the last entry has lines = 0. */
static const struct {
  unsigned lines;
  uint8_t line[GFS_LINES_MAX];
} shuffled_orders[] = {
#define GFSMITH_PIPELINED(symbol, isa, inputs, outputs, matrix, walk, shuffled, lines, store,      \
                          format)
#define GFSMITH_PIPELINED_ORDER(lines, ...) {lines, {__VA_ARGS__}},
#include "pipelined.inc"
#undef GFSMITH_PIPELINED
#undef GFSMITH_PIPELINED_ORDER
    {0, {0}}};

static gfs_walk_kind walk_of(const gfs_pipelined *r) {
  if (r->rows)
    return r->shuffled ? GFS_WALK_SHUFFLED : r->lines == 1 ? GFS_WALK_ROW : GFS_WALK_ROWS4;
  return r->shuffled ? GFS_WALK_BLOCK_SHUFFLED : GFS_WALK_BLOCK;
}

/* False if the list has no such shuffled order, or there are too many lines. */
static bool order_of(const gfs_pipelined *r, gfs_order *order) {
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
static void take_variant(gfs_variants *variants, const gfs_pipelined *r) {
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
static bool knows(const gfs_map *map, const gfs_pipelined *r) {
  return r->matrix != GFS_MATRIX_none && map->pass->known == &gfs_baked_matrices[r->matrix];
}

/* Does the row's kernel compute the first pass with tables of the map? */
static bool reads_tables(const gfs_map *map, const gfs_isa *isa, const gfs_pipelined *r) {
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
  for (const gfs_pipelined *r = gfs_pipelined_kernels; r->run != NULL; r++)
    if (r->isa == isa->id && knows(map, r))
      take_variant(variants, r);
  for (const gfs_pipelined *r = gfs_pipelined_kernels; r->run != NULL; r++)
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
