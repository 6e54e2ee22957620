#include "map.h"

#include <stdbool.h>
#include <stdlib.h>

/* Outputs that one pass computes, where there are kernels for so many. Eight accumulators leave
 * registers for the source and the tables on every instruction set; a longer group saves little,
 * since by then arithmetic and not reading the sources takes the time. */
#define GROUP_MAX 8u

/* Bytes that the chunks of all shards take together. It fits the second-level cache of every
 * x86-64 CPU with AVX2 (256 KiB and more); that of the first would make chunks so short for wide
 * codes that memory pages and call overhead cost more than its speed gains. */
#define CACHE_BUDGET (192u * 1024)

/* Kernels are slower on shorter pieces than this, and prefetchers do not get going. */
#define CHUNK_MIN 1024u

#define CACHE_LINE 64u

size_t gfs_map_chunk(unsigned shards) {
  size_t chunk = CACHE_BUDGET / shards / CACHE_LINE * CACHE_LINE;
  return chunk < CHUNK_MIN ? CHUNK_MIN : chunk;
}

/* The length of the next group when `left` outputs remain: as balanced as the kernels allow (ten
 * outputs make 5 + 5, not 8 + 2); 0 if there is no kernel. */
static unsigned next_group(const gfs_isa *isa, unsigned inputs, unsigned left) {
  unsigned limit = left < GROUP_MAX ? left : GROUP_MAX;
  while (limit > 0 && gfs_dispatch_kernel(isa, GFS_OPERATION_dot, inputs, limit) == NULL)
    limit--;
  if (limit == 0)
    return 0;
  unsigned passes = (left + limit - 1) / limit;
  unsigned balanced = (left + passes - 1) / passes;
  while (balanced < limit && gfs_dispatch_kernel(isa, GFS_OPERATION_dot, inputs, balanced) == NULL)
    balanced++;
  return balanced;
}

/* Write group->tables; matrix points to the group's first row. */
static void fill_tables(const gfs_group *group, uint8_t *tables, const gfs_isa *isa,
                        const gfs_field *field, unsigned inputs, const uint8_t *matrix) {
  size_t entry = gfs_tables_entry(isa->format);
  for (size_t j = 0; j < inputs; j++)
    for (size_t i = 0; i < group->outputs; i++)
      gfs_tables_fill(isa->format, field, matrix[i * inputs + j],
                      tables + (j * group->outputs + i) * entry);
}

/* The kernel for a group whose rows are given. Kernels made for known coefficients come in here. */
static gfsmith_kernel *choose_dot(const gfs_isa *isa, unsigned inputs, unsigned outputs,
                                  const uint8_t *rows) {
  bool all_ones = true;
  for (size_t n = 0; n < (size_t)inputs * outputs; n++)
    all_ones = all_ones && rows[n] == 1;
  gfsmith_kernel *xor_kernel = NULL;
  if (all_ones)
    xor_kernel = gfs_dispatch_kernel(isa, GFS_OPERATION_xor, inputs, outputs);
  if (xor_kernel != NULL)
    return xor_kernel;
  return gfs_dispatch_kernel(isa, GFS_OPERATION_dot, inputs, outputs);
}

gfsmith_status gfs_map_create(gfs_map **out, const gfs_isa *isa, const gfs_field *field,
                              unsigned inputs, unsigned outputs, const uint8_t *matrix) {
  unsigned groups = 0;
  for (unsigned first = 0; first < outputs; groups++) {
    unsigned length = next_group(isa, inputs, outputs - first);
    if (length == 0)
      return GFSMITH_EUNSUPPORTED;
    first += length;
  }
  size_t entry = gfs_tables_entry(isa->format);
  size_t header = sizeof(gfs_map) + groups * sizeof(gfs_group);
  gfs_map *map = malloc(header + CACHE_LINE + (size_t)inputs * outputs * entry);
  if (map == NULL)
    return GFSMITH_ENOMEM;
  *map = (gfs_map){.entry = entry, .inputs = inputs, .outputs = outputs, .groups = groups};

  /* Entries are 8 or 32 bytes: from a cache line's start, none of them straddles two. */
  uint8_t *tables = (uint8_t *)map + header;
  tables += (CACHE_LINE - (uintptr_t)tables % CACHE_LINE) % CACHE_LINE;
  unsigned first = 0;
  for (unsigned g = 0; g < groups; g++) {
    gfs_group *group = &map->group[g];
    const uint8_t *rows = matrix + (size_t)first * inputs;
    group->first = first;
    group->outputs = next_group(isa, inputs, outputs - first);
    group->dot = choose_dot(isa, inputs, group->outputs, rows);
    group->mad = gfs_dispatch_kernel(isa, GFS_OPERATION_mad, 1, group->outputs);
    group->tables = tables;
    fill_tables(group, tables, isa, field, inputs, rows);
    tables += (size_t)inputs * group->outputs * entry;
    first += group->outputs;
  }
  *out = map;
  return GFSMITH_OK;
}

static void apply_groups(const gfs_map *map, size_t len, const uint8_t *const *src,
                         uint8_t *const *dst) {
  for (unsigned g = 0; g < map->groups; g++) {
    const gfs_group *group = &map->group[g];
    group->dot(len, map->inputs, group->tables, src, dst + group->first);
  }
}

void gfs_map_apply(const gfs_map *map, size_t len, const uint8_t *const *src, uint8_t *const *dst) {
  size_t chunk = gfs_map_chunk(map->inputs + map->outputs);
  if (map->groups == 1 || len <= chunk) {
    apply_groups(map, len, src, dst);
    return;
  }
  const uint8_t *chunk_src[GFSMITH_MAX_SHARDS];
  uint8_t *chunk_dst[GFSMITH_MAX_SHARDS];
  for (size_t start = 0; start < len; start += chunk) {
    for (unsigned j = 0; j < map->inputs; j++)
      chunk_src[j] = src[j] + start;
    for (unsigned i = 0; i < map->outputs; i++)
      chunk_dst[i] = dst[i] + start;
    apply_groups(map, len - start < chunk ? len - start : chunk, chunk_src, chunk_dst);
    if (len - start <= chunk)
      break; /* start + chunk could wrap around */
  }
}

static void accumulate_groups(const gfs_map *map, size_t len, unsigned column, const uint8_t *src,
                              uint8_t *const *dst) {
  for (unsigned g = 0; g < map->groups; g++) {
    const gfs_group *group = &map->group[g];
    const uint8_t *tables = group->tables + (size_t)column * group->outputs * map->entry;
    group->mad(len, 1, tables, &src, dst + group->first);
  }
}

void gfs_map_accumulate(const gfs_map *map, size_t len, unsigned column, const uint8_t *src,
                        uint8_t *const *dst) {
  size_t chunk = gfs_map_chunk(1 + map->outputs);
  if (map->groups == 1 || len <= chunk) {
    accumulate_groups(map, len, column, src, dst);
    return;
  }
  uint8_t *chunk_dst[GFSMITH_MAX_SHARDS];
  for (size_t start = 0; start < len; start += chunk) {
    for (unsigned i = 0; i < map->outputs; i++)
      chunk_dst[i] = dst[i] + start;
    accumulate_groups(map, len - start < chunk ? len - start : chunk, column, src + start,
                      chunk_dst);
    if (len - start <= chunk)
      break;
  }
}
