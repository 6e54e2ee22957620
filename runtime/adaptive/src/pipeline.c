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

/* A stripe that is computed in order. */
typedef struct stripe {
  size_t len;
  const uint8_t *const *src;
  uint8_t *const *dst;
  const uint8_t *const *next; /* the sources of the stripe that follows; NULL: none */
  bool led;                   /* the previous stripe has prefetched the lead */
} stripe;

/* Run all passes on `bytes` bytes behind the pointers, chunk by chunk; the first pass may prefetch
 * lines of the next chunk. The results begin at byte `from` of the destinations. The pointers are
 * advanced, also the prefetch addresses. */
static void piped_passes(const gfs_variants *variants, gfs_policy policy, size_t from, size_t bytes,
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
    at[i] = dst[i] + from;
  for (size_t start = 0; start < bytes; start += piece) {
    piece = all.count == 1 ? bytes : gfs_least(bytes - start, chunk);
    variant->run[policy.streaming](piece, map->inputs, pass->tables, pointers, at + pass->first);
    for (unsigned n = 1; n < all.count; n++)
      kernel_of(variants, variant, n, policy.streaming)(piece, map->inputs, pass[n].tables,
                                                        pointers, at + pass[n].first);
    if (start + piece == bytes)
      return;
    for (size_t n = 0; n < count; n++)
      pointers[n] += piece;
    for (unsigned i = 0; i < map->outputs; i++)
      at[i] += piece;
  }
}

static void piped(const gfs_variants *variants, gfs_policy policy, unsigned device,
                  const stripe *s) {
  const gfs_map *map = variants->map;
  const gfs_variant *variant = &variants->variant[policy.walk];
  const uint8_t *pointers[GFSMITH_MAX_SHARDS * (1 + GFS_LINES_MAX)];
  gfs_ahead ahead = {.order = &variant->order, .src = s->src, .k = map->inputs, .len = s->len};
  ahead.distance = policy.distance == GFS_DISTANCE_ROW ? map->inputs : policy.distance;
  ahead.first = policy.first;
  ahead.device = device;
  gfs_asking asking;
  gfs_ahead_begin(&ahead, &asking, pointers);
  if (!s->led)
    gfs_ahead_lead(&ahead);
  piped_passes(variants, policy, 0, ahead.piped, pointers, s->dst);
  gfs_ahead_rest(&ahead, &asking);
  size_t done = ahead.piped;
  if (s->next != NULL) {
    size_t across = gfs_ahead_across(&ahead, s->next, pointers);
    piped_passes(variants, policy, done, across, pointers, s->dst);
    done += across;
  }
  gfs_map_apply_rest(map, policy.streaming ? GFS_PATH_distant : GFS_PATH_cached, done, s->len,
                     s->src, s->dst);
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
    gfs_pipeline_run(variants, policy, granules, path, pages, &(gfs_stripes){1, src, dst, false});
  if (pages == len)
    return;
  for (unsigned j = 0; j < map->inputs; j++)
    from[j] = src[j] + pages;
  for (unsigned i = 0; i < map->outputs; i++)
    to[i] = dst[i] + pages;
  policy.walk = gfs_walk_shuffled(policy.walk);
  gfs_pipeline_run(variants, policy, granules, path, len - pages,
                   &(gfs_stripes){1, from, to, false});
}

static void run_stripe(const gfs_variants *variants, gfs_policy policy, gfs_granules granules,
                       gfs_path path, const stripe *s) {
  if (policy.walk == GFS_WALK_PLAIN)
    gfs_map_apply_rest(variants->map, GFS_PATH_cached, 0, s->len, s->src, s->dst);
  else if (policy.walk == GFS_WALK_DEFAULT || !gfs_variants_have(variants, policy))
    gfs_map_apply_pieces(variants->map, path, s->len, s->src, s->dst);
  else if (policy.pages)
    piped_pages(variants, policy, granules, path, s->len, s->src, s->dst);
  else
    piped(variants, policy, granules.device, s);
}

void gfs_pipeline_run(const gfs_variants *variants, gfs_policy policy, gfs_granules granules,
                      gfs_path path, size_t len, const gfs_stripes *stripes) {
  unsigned inputs = variants->map->inputs, outputs = variants->map->outputs;
  for (size_t n = 0; n < stripes->count; n++) {
    bool follows = n + 1 < stripes->count || stripes->more;
    stripe s = {len, stripes->src + n * inputs, stripes->dst + n * outputs, NULL, n > 0};
    if (follows)
      s.next = s.src + inputs;
    run_stripe(variants, policy, granules, path, &s);
  }
}
