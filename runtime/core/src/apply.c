#include <stdalign.h>

#include "inlining.h"
#include "map.h"
#include "prefetch.h"
#include "sizes.h"
#include "stream.h"

/* Bytes of the chunks of all shards together: half of the second-level cache of the oldest CPUs
 * with AVX2 (256 KiB). Measured on Zen 4, GFNI AVX-512, 64 KiB shards, against whole shards: 100+20
 * takes 1.6 times as long unchunked. From 512 bytes to 6 KiB of a shard the differences are small:
 * 100+20 gains 4 to 20 % from memory below 1.6 KiB, 10+10 loses 4 to 8 % in cache below 2 KiB
 * (because calls become short). The chunk is 1088 bytes at 120 shards and 6528 at 20. */
#define MAP_CACHE_BUDGET (128u * 1024)

/* The smallest chunk; it gains 4 % at 200+55 compared with 1024. */
#define CHUNK_MIN 512u

/* Bytes of the sources and destinations of one step together, and the limits of the length of a
 * step, for shards in memory: see fetch(). Measured on Zen 4, GFNI AVX-512, with known matrices,
 * alternately in one run: twice as much loses 3 to 12 % at 10+4, 28+4 and 48+4; half as much gains
 * 9 to 17 % at 28+4 and 1 KiB and loses 10 to 15 % at 8+8, 16+8 and 17+3. */
#define STEP_BUDGET (8u * 1024)
#define STEP_MIN 128u
#define STEP_MAX 1024u

/* Number of shards, inputs and outputs of a pass together, that hardware prefetchers can follow
 * after the first pages of the shards. 12+4, 4 and 64 KiB: steps lose 3 to 10 %; 1 KiB: they gain
 * 35 %. 28+4: they gain 25 % at 4 and 64 KiB. In long shards (GFS_PATH_bulk) streaming stores do
 * not count. Measured on Zen 4 (docs/performance.md#steps-or-whole-shards). */
#define FEW_SHARDS 16u
#define LONG_SHARD 4096u

/* The most shards of a call that some CPUs compute whole (gfs_limits). Measured on Zen 5: 48+4
 * gains 5 % at 1 and 4 KiB, 64+4 gains 4 and loses 5 % (docs/performance.md#steps-or-whole-shards).
 */
#define WHOLE_SHARDS 56u

/* Bytes of the buffer for the results of a step (see buffers()), and lengths of such steps: in long
 * shards of few sources and outputs, and otherwise. With 18 to 22 sources the first length gains 3
 * to 9 %, with 40 it loses 5 %. Measured on Zen 4 (docs/performance.md#any-number-of-sources). */
#define BUFFER 4096u
#define BUFFERED_STEP_MAX 768u
#define BUFFERED_STEP (BUFFER / GFS_PASS_MAX)
#define BUFFERED_FEW 32u

/* The results of more sources in longer shards go to no buffer: with 120 shards of 1 MiB one after
 * the other, their pages compete for few places in the caches of translations, and more accesses to
 * each line lose a quarter. */
#define BUFFERED_SOURCES 64u
#define BUFFERED_SHARD (64u * 1024)

/* Outputs of a kernel from which on its arithmetic takes longer than its accesses, so that its own
 * prefetches suffice. Measured there too. */
#define MANY_OUTPUTS 16u

size_t gfs_map_chunk(unsigned shards) {
  size_t chunk = MAP_CACHE_BUDGET / shards / GFS_CACHE_LINE * GFS_CACHE_LINE;
  return chunk < CHUNK_MIN ? CHUNK_MIN : chunk;
}

static size_t step_length(unsigned shards) {
  size_t step = STEP_BUDGET / shards / STEP_MIN * STEP_MIN;
  return step < STEP_MIN ? STEP_MIN : step > STEP_MAX ? STEP_MAX : step;
}

/* A call cut into pieces of `piece` bytes of every shard. */
typedef struct cut {
  gfs_path path;
  size_t piece;
  size_t first;  /* bytes of every source that are prefetched before the first piece */
  bool fetched;  /* each piece is prefetched during the computation of the previous one */
  bool buffered; /* the results go to a buffer first */
} cut;

/* The whole shards if one pass suffices, else chunks that stay in cache. */
static cut unfetched(const gfs_map *map, gfs_path path, size_t len) {
  return (cut){path, map->dots == 1 ? len : gfs_map_chunk(map->inputs + map->outputs), 0, false,
               false};
}

/* The distance if one kernel, which prefetches a short distance ahead, computes the call; else 0.
 */
static unsigned near_of(const gfs_map *map, gfs_path path) {
  return path == GFS_PATH_distant && map->dots == 1 ? map->pass->near : 0;
}

/* Do the results of a call in steps go to a buffer? A kernel for any number of sources loads all of
 * them by the same instructions. If one of these loads has the page offset of a store around the
 * cache that is not complete, Zen 4 makes all of them wait, and such a store takes as long as
 * memory. Stores to the first level take few cycles. */
static bool buffers(const gfs_map *map, gfs_path path, size_t len) {
  return path >= GFS_PATH_distant && map->dots == 1 && map->pass->delayed &&
         (map->inputs <= BUFFERED_SOURCES || len <= BUFFERED_SHARD);
}

static size_t buffered_step(const gfs_map *map, gfs_path path) {
  bool few = map->inputs <= BUFFERED_FEW && map->outputs <= BUFFER / BUFFERED_STEP_MAX;
  return path == GFS_PATH_bulk && few ? BUFFERED_STEP_MAX : BUFFERED_STEP;
}

/* Steps; or the whole shards if the kernel itself prefetches a short distance ahead, for which only
 * their beginning is prefetched before. */
static cut fetched(const gfs_map *map, gfs_path path, size_t len) {
  unsigned near = near_of(map, path);
  if (near > 0)
    return (cut){path, len, near, false, false};
  bool buffered = buffers(map, path, len);
  size_t step = step_length(map->inputs + map->outputs);
  if (buffered)
    step = buffered_step(map, path);
  return (cut){path, step, step, true, buffered};
}

/* Number of shards that hardware prefetchers have to follow in a pass. */
static unsigned followed(const gfs_map *map, gfs_path path) {
  const gfs_pass *pass = map->pass;
  bool around =
      path == GFS_PATH_bulk && pass->traits.store == GFS_STORE_streaming && map->dots == 1;
  return map->inputs + (around ? 0 : pass->outputs);
}

/* Do the loads of the kernel itself overlap better than steps, because this CPU looks far ahead? */
static bool looks_ahead(const gfs_map *map, gfs_path path, size_t len) {
  unsigned shards = map->inputs + map->outputs;
  return path == GFS_PATH_distant && map->dots == 1 && map->outputs < MANY_OUTPUTS &&
         shards <= WHOLE_SHARDS && len * shards >= gfs_limits_here()->whole_min;
}

/* Does prefetching the next step of all sources pay for shards in memory? */
static bool steps_pay(const gfs_map *map, gfs_path path, size_t len) {
  const gfs_pass *pass = map->pass;
  if (looks_ahead(map, path, len))
    return false;
  if (len < LONG_SHARD)
    return true;
  if (map->dots == 1 && pass->outputs >= MANY_OUTPUTS && pass->traits.prefetch > 0)
    return false;
  return followed(map, path) > FEW_SHARDS;
}

static cut cut_of(const gfs_map *map, gfs_path path, size_t len) {
  if (!gfs_path_is_cached(path) && (near_of(map, path) > 0 || steps_pay(map, path, len)))
    return fetched(map, path, len);
  return unfetched(map, path, len);
}

/* Bytes start .. start + len of all sources, to be prefetched in equal shares. */
typedef struct request {
  const uint8_t *const *src;
  size_t start, len;
  unsigned turn, turns;
} request;

/* Prefetch one share, one source after the other, into the second-level cache: accesses become
 * sequential. A kernel reads a line of each source in turn, which no hardware prefetcher follows
 * for many sources. */
static void fetch(unsigned inputs, request *r) {
  unsigned end = inputs * (r->turn + 1) / r->turns;
  for (unsigned j = inputs * r->turn / r->turns; j < end && r->len > 0; j++)
    gfs_prefetch_second(r->src[j] + r->start, r->len);
  r->turn++;
}

/* Write the addresses of the sources from byte `start` on, and the last one again up to `wide`. */
static void place_sources(const gfs_map *map, unsigned wide, const uint8_t *const *src,
                          size_t start, const uint8_t **out) {
  for (unsigned j = 0; j < map->inputs; j++)
    out[j] = src[j] + start;
  for (unsigned j = map->inputs; j < wide; j++)
    out[j] = out[j - 1];
}

/* Run the only pass with its results in a buffer, then copy these around the cache. The next piece
 * is prefetched in between, because the next loads may wait for the copies. */
static GFS_NOT_INLINED void apply_buffered(const gfs_map *map, cut c, size_t len,
                                           const uint8_t *const *src, uint8_t *const *dst,
                                           request *ahead) {
  alignas(GFS_CACHE_LINE) uint8_t buffer[BUFFER + GFS_STREAM_HALF];
  const gfs_pass *pass = map->pass;
  uint8_t *row[GFS_PASS_MAX];
  for (unsigned i = 0; i < pass->outputs; i++)
    row[i] = buffer + i * c.piece;
  /* Kernels store around the cache only if all destinations begin at lines. */
  row[pass->outputs - 1] += GFS_STREAM_HALF;
  pass->kernel[c.path](len, map->inputs, pass->tables, src, row);
  fetch(map->inputs, ahead);
  for (unsigned i = 0; i < pass->outputs; i++)
    gfs_stream_copy(dst[i], row[i], len);
}

/* Run all passes over one piece; each prefetches a share of the next piece. All use the path of the
 * call: the later passes find the sources in cache, but their outputs are in memory like those of
 * the first. `src` has map->widest pointers if these are more than the sources. */
static void apply_passes(const gfs_map *map, cut c, size_t len, const uint8_t *const *src,
                         uint8_t *const *dst, request *ahead) {
  for (unsigned n = 0; n < map->dots; n++) {
    const gfs_pass *pass = &map->pass[n];
    gfs_path path = c.fetched && pass->delayed ? GFS_PATH_nearby : c.path;
    fetch(map->inputs, ahead);
    if (path >= GFS_PATH_distant && pass->wide > 0)
      pass->wider(len, pass->wide, pass->tables, src, dst + pass->first);
    else
      pass->kernel[path](len, map->inputs, pass->tables, src, dst + pass->first);
  }
}

/* Apply the cut to bytes start .. len. `next`: the sources of which the last piece prefetches the
 * first one; NULL: none. `ready`: the first piece has been prefetched. */
static void apply_cut(const gfs_map *map, cut c, size_t start, size_t len,
                      const uint8_t *const *src, uint8_t *const *dst, const uint8_t *const *next,
                      bool ready) {
  const uint8_t *piece_src[GFSMITH_MAX_SHARDS];
  uint8_t *piece_dst[GFSMITH_MAX_SHARDS];
  request ahead = {.src = src, .start = start, .turns = 1};
  ahead.len = ready ? 0 : gfs_least(len - start, c.first);
  fetch(map->inputs, &ahead);
  ahead.turns = map->dots;
  size_t piece;
  for (; start < len; start += piece) {
    piece = gfs_least(len - start, c.piece);
    ahead.turn = 0;
    ahead.start = start + piece;
    ahead.len = c.fetched ? gfs_least(len - ahead.start, c.piece) : 0;
    if (ahead.start == len && next != NULL)
      ahead = (request){next, 0, gfs_least(len, c.first), 0, map->dots};
    place_sources(map, map->widest, src, start, piece_src);
    for (unsigned i = 0; i < map->outputs; i++)
      piece_dst[i] = dst[i] + start;
    if (c.buffered)
      apply_buffered(map, c, piece, piece_src, piece_dst, &ahead);
    else
      apply_passes(map, c, piece, piece_src, piece_dst, &ahead);
  }
  if (c.buffered)
    gfs_stream_fence();
}

void gfs_map_apply_pieces(const gfs_map *map, gfs_path path, size_t len, const uint8_t *const *src,
                          uint8_t *const *dst) {
  apply_cut(map, cut_of(map, path, len), 0, len, src, dst, NULL, false);
}

void gfs_map_apply_rest(const gfs_map *map, gfs_path path, size_t start, size_t len,
                        const uint8_t *const *src, uint8_t *const *dst) {
  apply_cut(map, unfetched(map, path, len), start, len, src, dst, NULL, false);
}

/* Compute a stripe in cache while the sources behind its own, those of the next stripe, are
 * prefetched. */
static void apply_pipelined(const gfs_map *map, gfs_path path, size_t len,
                            const uint8_t *const *src, uint8_t *const *dst) {
  const gfs_pass *pass = map->pass;
  const uint8_t *wide[2 * GFSMITH_MAX_SHARDS];
  if (pass->wide > 0) {
    place_sources(map, pass->wide, src, 0, wide);
    place_sources(map, pass->wide, src + map->inputs, 0, wide + pass->wide);
    pass->pipelined(len, pass->wide, pass->tables, wide, dst + pass->first);
  } else
    pass->pipelined(len, map->inputs, pass->tables, src, dst + pass->first);
  for (unsigned n = 1; n < map->dots; n++)
    map->pass[n].kernel[path](len, map->inputs, map->pass[n].tables, src, dst + map->pass[n].first);
}

void gfs_map_apply_short_stripes(const gfs_map *map, gfs_path path, size_t len,
                                 const gfs_stripes *stripes) {
  gfs_stripes s = *stripes;
  cut c = fetched(map, path, len);
  for (size_t n = 0; n < s.count; n++) {
    bool next = n + 1 < s.count || s.more;
    if (next && map->pass->pipelined != NULL)
      apply_pipelined(map, path, len, s.src, s.dst);
    else
      apply_cut(map, c, 0, len, s.src, s.dst, next ? s.src + map->inputs : NULL, n > 0);
    s.src += map->inputs;
    s.dst += map->outputs;
  }
}

static void apply_cached(const gfs_map *map, gfs_path path, size_t len, gfs_stripes s) {
  const gfs_pass *pass = map->pass;
  for (size_t n = 0; n < s.count; n++) {
    const uint8_t *const *src = s.src + n * map->inputs;
    uint8_t *const *dst = s.dst + n * map->outputs;
    if (map->dots == 1)
      pass->kernel[path](len, map->inputs, pass->tables, src, dst);
    else
      gfs_map_apply_pieces(map, path, len, src, dst);
  }
}

void gfs_map_apply_stripes(const gfs_map *map, gfs_path path, size_t len, gfs_stripes s) {
  if (gfs_path_is_cached(path))
    apply_cached(map, path, len, s);
  else if (len > gfs_next_stripe_bytes() / (map->inputs + map->outputs))
    for (size_t n = 0; n < s.count; n++)
      gfs_map_apply(map, GFSMITH_HINT_STREAMING, len, s.src + n * map->inputs,
                    s.dst + n * map->outputs);
  else if (map->adaptive == NULL)
    gfs_map_apply_short_stripes(map, path, len, &s);
  else
    map->adaptive->apply_stripes(map->adaptive, path, len, &s);
}
