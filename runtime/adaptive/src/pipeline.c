#include "pipeline.h"

#include "sizes.h"

/* The passes of a map of which the variant computes the first. */
typedef struct passes {
  const gfs_pass *first;
  unsigned count;
} passes;

static passes passes_of(const gfs_map *map, const gfs_variant *variant) {
  return variant->known ? (passes){map->pass, map->dots}
                        : (passes){map->pass + map->dots, map->mads};
}

/* The kernel of pass n > 0, which reads its sources from the cache. */
static gfsmith_kernel *kernel_of(const gfs_variants *variants, const gfs_variant *variant,
                                 unsigned n, bool streaming) {
  if (variant->known)
    return variants->map->pass[n].kernel[streaming ? GFS_PATH_distant : GFS_PATH_cached];
  return variants->table[n][streaming];
}

/* Run several passes on the first `bytes` bytes, chunk by chunk; the first pass may prefetch lines
 * of the next chunk. All pointers are advanced, also the prefetch addresses. */
static void piped_passes(const gfs_variants *variants, gfs_policy policy, size_t bytes,
                         const uint8_t **pointers, uint8_t *const *dst) {
  const gfs_map *map = variants->map;
  const gfs_variant *variant = &variants->variant[policy.walk];
  passes all = passes_of(map, variant);
  const gfs_pass *pass = all.first;
  size_t turn = (size_t)GFS_CACHE_LINE * variant->order.lines;
  size_t chunk = gfs_map_chunk(map->inputs + map->outputs) / turn * turn, piece;
  size_t count = map->inputs + gfs_order_visits(&variant->order, map->inputs);
  uint8_t *at[GFSMITH_MAX_SHARDS];
  for (unsigned i = 0; i < map->outputs; i++)
    at[i] = dst[i];
  for (size_t start = 0; start < bytes; start += piece) {
    piece = gfs_least(bytes - start, chunk);
    variant->run[policy.streaming](piece, map->inputs, pass->tables, pointers, at + pass->first);
    for (unsigned n = 1; n < all.count; n++)
      kernel_of(variants, variant, n, policy.streaming)(piece, map->inputs, pass[n].tables,
                                                        pointers, at + pass[n].first);
    for (size_t n = 0; n < count; n++)
      pointers[n] += piece;
    for (unsigned i = 0; i < map->outputs; i++)
      at[i] += piece;
  }
}

static void piped(const gfs_variants *variants, gfs_policy policy, unsigned device, size_t len,
                  const uint8_t *const *src, uint8_t *const *dst) {
  const gfs_map *map = variants->map;
  const gfs_variant *variant = &variants->variant[policy.walk];
  const uint8_t *pointers[GFSMITH_MAX_SHARDS * (1 + GFS_LINES_MAX)];
  gfs_ahead ahead = {.order = &variant->order, .src = src, .k = map->inputs, .len = len};
  ahead.distance = policy.distance == GFS_DISTANCE_ROW ? map->inputs : policy.distance;
  ahead.first = policy.first;
  ahead.device = device;
  gfs_asking asking;
  gfs_ahead_begin(&ahead, &asking, pointers);
  gfs_ahead_lead(&ahead);
  passes all = passes_of(map, variant);
  if (all.count == 1 && ahead.piped > 0)
    variant->run[policy.streaming](ahead.piped, map->inputs, all.first->tables, pointers, dst);
  else
    piped_passes(variants, policy, ahead.piped, pointers, dst);
  gfs_ahead_rest(&ahead, &asking);
  gfs_map_apply_rest(map, policy.streaming ? GFS_PATH_distant : GFS_PATH_cached, ahead.piped, len,
                     src, dst);
}

/* Run the whole pages in the policy's order, which keeps hardware prefetchers working, and the rest
 * in the shuffled one, which stops them: lines beyond a shard's end are not used. */
static void piped_pages(const gfs_variants *variants, gfs_policy policy, gfs_granules granules,
                        gfs_path path, size_t len, const uint8_t *const *src, uint8_t *const *dst) {
  const gfs_map *map = variants->map;
  size_t pages = len / granules.page * granules.page;
  const uint8_t *from[GFSMITH_MAX_SHARDS];
  uint8_t *to[GFSMITH_MAX_SHARDS];
  policy.pages = false;
  if (pages > 0)
    gfs_pipeline_run(variants, policy, granules, path, pages, src, dst);
  if (pages == len)
    return;
  for (unsigned j = 0; j < map->inputs; j++)
    from[j] = src[j] + pages;
  for (unsigned i = 0; i < map->outputs; i++)
    to[i] = dst[i] + pages;
  policy.walk = gfs_walk_shuffled(policy.walk);
  gfs_pipeline_run(variants, policy, granules, path, len - pages, from, to);
}

void gfs_pipeline_run(const gfs_variants *variants, gfs_policy policy, gfs_granules granules,
                      gfs_path path, size_t len, const uint8_t *const *src, uint8_t *const *dst) {
  if (policy.walk == GFS_WALK_PLAIN)
    gfs_map_apply_rest(variants->map, GFS_PATH_cached, 0, len, src, dst);
  else if (policy.walk == GFS_WALK_DEFAULT || !gfs_variants_have(variants, policy))
    gfs_map_apply_pieces(variants->map, path, len, src, dst);
  else if (policy.pages)
    piped_pages(variants, policy, granules, path, len, src, dst);
  else
    piped(variants, policy, granules.device, len, src, dst);
}
