#include "map.h"

/* Bytes that the chunks of all shards take together: half of the second-level cache of the oldest
 * CPUs with AVX2 (256 KiB). Measured on Zen 4, GFNI AVX-512, 64 KiB shards, against whole shards:
 * 100+20 takes 1.6 times as long unchunked. From 512 bytes to 6 KiB of a shard the differences are
 * small: 100+20 gains 4 to 20 % from memory below 1.6 KiB, 10+10 loses 4 to 8 % in cache below 2
 * KiB (calls are short then). This gives 1088 bytes at 120 shards and 6528 at 20. */
#define CACHE_BUDGET (128u * 1024)

/* The least chunk; 200+55 gains 4 % over 1024. */
#define CHUNK_MIN 512u

#define CACHE_LINE 64u

size_t gfs_map_chunk(unsigned shards) {
  size_t chunk = CACHE_BUDGET / shards / CACHE_LINE * CACHE_LINE;
  return chunk < CHUNK_MIN ? CHUNK_MIN : chunk;
}

/* All passes take the path of the call: in the later ones the sources are in cache, where
 * prefetching them costs next to nothing, and their outputs are in memory as much as those of the
 * first. */
static void apply_passes(const gfs_map *map, gfs_path path, size_t len, const uint8_t *const *src,
                         uint8_t *const *dst) {
  for (unsigned n = 0; n < map->dots; n++) {
    const gfs_pass *pass = &map->pass[n];
    pass->kernel[path](len, map->inputs, pass->tables, src, dst + pass->first);
  }
}

void gfs_map_apply(const gfs_map *map, gfsmith_hint hint, size_t len, const uint8_t *const *src,
                   uint8_t *const *dst) {
  gfs_path path = gfs_dispatch_path(hint, map->inputs + map->outputs, len);
  size_t chunk = map->dots == 1 ? len : gfs_map_chunk(map->inputs + map->outputs);
  if (len <= chunk) {
    apply_passes(map, path, len, src, dst);
    return;
  }
  const uint8_t *chunk_src[GFSMITH_MAX_SHARDS];
  uint8_t *chunk_dst[GFSMITH_MAX_SHARDS];
  for (size_t start = 0; start < len; start += chunk) {
    for (unsigned j = 0; j < map->inputs; j++)
      chunk_src[j] = src[j] + start;
    for (unsigned i = 0; i < map->outputs; i++)
      chunk_dst[i] = dst[i] + start;
    apply_passes(map, path, len - start < chunk ? len - start : chunk, chunk_src, chunk_dst);
    if (len - start <= chunk)
      break; /* start + chunk could wrap around */
  }
}

bool gfs_map_accumulates(const gfs_map *map) {
  for (unsigned n = map->dots; n < map->dots + map->mads; n++)
    if (map->pass[n].kernel[GFS_PATH_cached] == NULL)
      return false;
  return true;
}

static void accumulate_passes(const gfs_map *map, gfs_path path, size_t len, unsigned column,
                              const uint8_t *src, uint8_t *const *dst) {
  for (unsigned n = map->dots; n < map->dots + map->mads; n++) {
    const gfs_pass *pass = &map->pass[n];
    const uint8_t *tables = pass->tables + (size_t)column * pass->outputs * map->entry;
    pass->kernel[path](len, 1, tables, &src, dst + pass->first);
  }
}

void gfs_map_accumulate(const gfs_map *map, gfsmith_hint hint, size_t len, unsigned column,
                        const uint8_t *src, uint8_t *const *dst) {
  gfs_path path = gfs_dispatch_path(hint, 1 + map->outputs, len);
  size_t chunk = map->mads == 1 ? len : gfs_map_chunk(1 + map->outputs);
  if (len <= chunk) {
    accumulate_passes(map, path, len, column, src, dst);
    return;
  }
  uint8_t *chunk_dst[GFSMITH_MAX_SHARDS];
  for (size_t start = 0; start < len; start += chunk) {
    for (unsigned i = 0; i < map->outputs; i++)
      chunk_dst[i] = dst[i] + start;
    accumulate_passes(map, path, len - start < chunk ? len - start : chunk, column, src + start,
                      chunk_dst);
    if (len - start <= chunk)
      break;
  }
}
