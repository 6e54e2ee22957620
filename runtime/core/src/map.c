#include "map.h"

#include <stdlib.h>

#include "baked.h"
#include "pipelined.h"
#include "sizes.h"

/* The parameters of a map. */
typedef struct recipe {
  const gfs_isa *isa;
  const gfs_field *field;
  unsigned inputs;
  unsigned outputs;
  const uint8_t *matrix;
} recipe;

/* The lengths of the passes that split the outputs, in order. A dot pass corresponds to one mad
 * pass, or to several if a kernel for a known matrix computes more outputs than kernels with tables
 * do. */
typedef struct layout {
  unsigned dots;
  unsigned mads;
  uint8_t dot[GFSMITH_MAX_SHARDS];
  uint8_t wide[GFSMITH_MAX_SHARDS]; /* of each dot pass, if it has tables: gfs_dispatch_wider */
  uint8_t mad[GFSMITH_MAX_SHARDS];
} layout;

static const uint8_t *recipe_row(const recipe *r, unsigned output) {
  return r->matrix + (size_t)output * r->inputs;
}

static bool has_kernel(const void *of, unsigned outputs) {
  const recipe *r = of;
  return gfs_dispatch_kernel(r->isa, GFS_OPERATION_dot, r->inputs, outputs, GFS_PATH_cached) !=
         NULL;
}

unsigned gfs_map_balanced(gfs_has_kernel *has, const void *of, unsigned left) {
  unsigned limit = left < GFS_PASS_MAX ? left : GFS_PASS_MAX;
  while (limit > 0 && !has(of, limit))
    limit--;
  if (limit == 0)
    return 0;
  unsigned passes = (left + limit - 1) / limit;
  unsigned length = (left + passes - 1) / passes;
  while (length < limit && !has(of, length))
    length++;
  return length;
}

static unsigned balanced(const recipe *r, unsigned left) {
  return gfs_map_balanced(has_kernel, r, left);
}

static const gfs_known_matrix *known_from(const recipe *r, unsigned first) {
  return gfs_baked_find(r->isa, r->field, r->inputs, r->outputs - first, recipe_row(r, first));
}

/* The length of the dot pass that begins at output `first`: that of a known matrix if there is one,
 * else of a pass with tables up to the next known matrix; 0 if there is no kernel. */
static unsigned dot_length(const recipe *r, unsigned first) {
  const gfs_known_matrix *matrix = known_from(r, first);
  if (matrix != NULL)
    return matrix->outputs;
  unsigned end = first + 1;
  while (end < r->outputs && known_from(r, end) == NULL)
    end++;
  return balanced(r, end - first);
}

/* Choose the passes. False if the build lacks the kernels. */
static bool lay_out(const recipe *r, layout *l) {
  l->dots = l->mads = 0;
  for (unsigned first = 0; first < r->outputs;) {
    unsigned left = dot_length(r, first);
    if (left == 0)
      return false;
    l->wide[l->dots] = (uint8_t)gfs_dispatch_wider(r->isa, r->inputs, left);
    l->dot[l->dots++] = (uint8_t)left;
    first += left;
    while (left > 0) {
      unsigned length = balanced(r, left);
      if (length == 0)
        return false;
      l->mad[l->mads++] = (uint8_t)length;
      left -= length;
    }
  }
  return true;
}

/* Write the tables of a pass: entry bytes for each of its coefficients, source by source. Sources
 * from r->inputs on have coefficients 0. Returns the end of the tables. */
static uint8_t *fill_tables(const recipe *r, const gfs_pass *pass, unsigned sources, size_t entry,
                            uint8_t *tables) {
  for (unsigned j = 0; j < sources; j++)
    for (unsigned i = 0; i < pass->outputs; i++) {
      uint8_t coefficient = j < r->inputs ? recipe_row(r, pass->first + i)[j] : 0;
      gfs_tables_fill(r->isa->format, r->field, coefficient, tables);
      tables += entry;
    }
  return tables;
}

/* Are all coefficients of the pass 1, and does the build have kernels for that? */
static bool is_sum(const recipe *r, const gfs_pass *pass) {
  const uint8_t *rows = recipe_row(r, pass->first);
  for (size_t n = 0; n < (size_t)r->inputs * pass->outputs; n++)
    if (rows[n] != 1)
      return false;
  return gfs_dispatch_kernel(r->isa, GFS_OPERATION_xor, r->inputs, pass->outputs,
                             GFS_PATH_cached) != NULL;
}

static void choose_dot(const recipe *r, unsigned wide, gfs_pass *pass) {
  const gfs_known_matrix *matrix = known_from(r, pass->first);
  pass->known = matrix;
  gfs_operation operation = is_sum(r, pass) ? GFS_OPERATION_xor : GFS_OPERATION_dot;
  if (matrix == NULL && operation == GFS_OPERATION_dot)
    pass->wide = wide;
  unsigned inputs = pass->wide > 0 ? pass->wide : r->inputs;
  if (pass->first == 0 && operation == GFS_OPERATION_dot)
    pass->pipelined = gfs_pipelined_row(r->isa, matrix, inputs, pass->outputs);
  for (gfs_path path = 0; path < GFS_PATHS; path++)
    pass->kernel[path] =
        matrix == NULL ? gfs_dispatch_kernel(r->isa, operation, r->inputs, pass->outputs, path)
                       : gfs_baked_kernel(r->isa, matrix, path);
  pass->traits = gfs_baked_traits(pass->kernel[GFS_PATH_bulk]);
  if (pass->wide > 0)
    pass->wider = gfs_dispatch_kernel(r->isa, operation, inputs, pass->outputs, GFS_PATH_bulk);
  else
    pass->delayed = gfs_traits_delay(pass->traits);
  unsigned ahead = gfs_baked_traits(pass->kernel[GFS_PATH_distant]).prefetch;
  pass->near = ahead <= GFS_PREFETCH_NEAR ? ahead : 0;
}

/* Write the passes, and their tables from `tables` on. A dot pass shares its tables with the mad
 * pass of the same outputs. */
static void fill_passes(const recipe *r, const layout *l, gfs_map *map, uint8_t *tables) {
  gfs_pass *dot = map->pass;
  gfs_pass *mad = map->pass + l->dots;
  for (unsigned n = 0, first = 0; n < l->dots; first += l->dot[n++]) {
    dot[n] = (gfs_pass){.first = first, .outputs = l->dot[n]};
    choose_dot(r, l->wide[n], &dot[n]);
    if (map->widest < dot[n].wide)
      map->widest = dot[n].wide;
  }
  for (unsigned n = 0, first = 0; n < l->mads; first += l->mad[n++]) {
    mad[n] = (gfs_pass){.first = first, .outputs = l->mad[n], .tables = tables};
    if (dot->first + dot->outputs <= first)
      dot++;
    bool shared = dot->first == first && dot->outputs == mad[n].outputs;
    unsigned sources = shared && dot->wide > 0 ? dot->wide : r->inputs;
    tables = fill_tables(r, &mad[n], sources, map->entry, tables);
    if (shared)
      dot->tables = mad[n].tables;
  }
}

/* The entries of all tables, at most. */
static size_t entries_of(const recipe *r, const layout *l) {
  size_t entries = (size_t)r->inputs * r->outputs;
  for (unsigned n = 0; n < l->dots; n++)
    entries += l->wide[n] > 0 ? (size_t)(l->wide[n] - r->inputs) * l->dot[n] : 0;
  return entries;
}

gfsmith_status gfs_map_create(gfs_map **out, const gfs_isa *isa, const gfs_field *field,
                              unsigned inputs, unsigned outputs, const uint8_t *matrix) {
  recipe r = {.isa = isa, .field = field, .inputs = inputs, .outputs = outputs, .matrix = matrix};
  layout l;
  if (!lay_out(&r, &l))
    return GFSMITH_EUNSUPPORTED;
  size_t entry = gfs_tables_entry(isa->format);
  size_t header = sizeof(gfs_map) + (l.dots + l.mads) * sizeof(gfs_pass);
  size_t bytes = header + GFS_CACHE_LINE + entries_of(&r, &l) * entry;
  gfs_map *map = malloc(bytes);
  if (map == NULL)
    return GFSMITH_ENOMEM;
  *map = (gfs_map){.bytes = bytes,
                   .entry = entry,
                   .format = isa->format,
                   .inputs = inputs,
                   .outputs = outputs,
                   .dots = l.dots,
                   .mads = l.mads};
  /* Entries have 8 or 32 bytes: if the tables begin at a cache line, no entry straddles two. */
  uint8_t *tables = (uint8_t *)map + header;
  fill_passes(&r, &l, map, tables + gfs_bytes_to_line(tables));
  *out = map;
  return GFSMITH_OK;
}

#ifdef GFSMITH_WITH_ADAPTIVE
_Thread_local uint32_t gfs_adaptive_left;
#endif

gfsmith_status gfs_map_attach(gfs_map *map, const gfs_isa *isa, gfs_coordinator *coordinator) {
  return coordinator != NULL ? coordinator->attach(coordinator, isa, map, &map->adaptive)
                             : GFSMITH_OK;
}

void gfs_map_destroy(gfs_map *map) {
  if (map == NULL)
    return;
  if (map->adaptive != NULL)
    map->adaptive->detach(map->adaptive);
  free(map);
}
