#include "checksummed.h"

#include <string.h>

#include "prefetch.h"
#include "sizes.h"
#include "stream.h"

/* Bytes of a piece of a shard, with few shards and with more: few enough that the computation of a
 * piece overlaps with the checksums of another one, so many that the calls of a piece cost little
 * (docs/checksums.md). */
#define SHARDS_FEW 8u
#define PIECE_FEW 1024u
#define PIECE_MANY 512u

/* Distance of prefetching, and with it the bytes of each source that are prefetched at the start,
 * which nothing overlaps: half as many, with short pieces, if shards are short or many. */
#define AHEAD 2048u
#define SHARDS_MANY 16u
#define LEN_LONG (16u * 1024)

/* A call under way. */
typedef struct checked_work {
  const gfs_map *map;
  const gfs_checked *checked;
  size_t len;
  size_t piece;
  size_t ahead;  /* the distance of prefetching */
  bool fetched;  /* the shards are in memory */
  bool streamed; /* whole pieces of the outputs go around the cache */
  bool equal;
} checked_work;

/* Bytes start .. start + len of all shards, a piece. */
typedef struct checked_span {
  size_t start, len;
  size_t ahead;
  uint8_t *buffer; /* for computed outputs; NULL: they are computed in their places */
} checked_span;

static unsigned most_outputs(const gfs_map *map) {
  unsigned most = 1;
  for (unsigned n = 0; n < map->dots; n++)
    if (map->pass[n].outputs > most)
      most = map->pass[n].outputs;
  return most;
}

static size_t prefetch_distance(unsigned shards, size_t len) {
  bool half = shards > SHARDS_MANY || (shards > SHARDS_FEW && len < LEN_LONG);
  return half ? AHEAD / 2 : AHEAD;
}

static bool all_aligned(uint8_t *const *shards, unsigned count) {
  uintptr_t bits = 0;
  for (unsigned n = 0; n < count; n++)
    bits |= (uintptr_t)shards[n];
  return bits % GFS_CRC_LINE == 0;
}

/* Choose the pieces of a call. Computed outputs that are compared or streamed must fit in the
 * buffer. */
static checked_work cut_checked(const gfs_map *map, gfs_path path, size_t len,
                                const gfs_checked *checked) {
  unsigned shards = map->inputs + map->outputs;
  checked_work w = {.map = map, .checked = checked, .len = len, .equal = true};
  size_t fits = GFS_CHECK_BYTES / most_outputs(map) / GFS_CRC_LINE * GFS_CRC_LINE;
  w.piece = shards > SHARDS_FEW ? PIECE_MANY : PIECE_FEW;
  w.ahead = prefetch_distance(shards, len);
  w.fetched = path != GFS_PATH_cached;
  w.streamed = path >= GFS_PATH_distant && fits >= w.piece && checked->dst != NULL &&
               gfs_crc_shards_copy(checked->sums) && all_aligned(checked->dst, map->outputs);
  if (checked->dst == NULL)
    w.piece = gfs_least(w.piece, fits);
  return w;
}

/* Compare computed outputs with the stored ones, and make those the data of the row. */
static void compare_stored(checked_work *w, const gfs_pass *pass, gfs_crc_row *row,
                           const uint8_t **stored) {
  for (unsigned i = 0; i < pass->outputs; i++) {
    stored[i] = w->checked->stored[pass->first + i] + row->start;
    w->equal = memcmp(row->data[i], stored[i], row->len) == 0 && w->equal;
  }
  row->data = stored;
}

/* Compute the outputs of a pass and advance their checksums. */
static void run_pass(checked_work *w, const checked_span *s, const gfs_pass *pass,
                     const uint8_t *const *src) {
  uint8_t *dst[GFSMITH_MAX_SHARDS], *copy[GFSMITH_MAX_SHARDS];
  const uint8_t *stored[GFSMITH_MAX_SHARDS];
  uint8_t *const *places = w->checked->dst;
  for (unsigned i = 0; i < pass->outputs; i++) {
    copy[i] = places != NULL ? places[pass->first + i] + s->start : NULL;
    dst[i] = s->buffer != NULL ? s->buffer + i * s->len : copy[i];
  }
  pass->kernel[GFS_PATH_cached](s->len, w->map->inputs, pass->tables, src, dst);
  gfs_crc_row row = {.first = w->map->inputs + pass->first,
                     .count = pass->outputs,
                     .data = (const uint8_t *const *)dst,
                     .start = s->start,
                     .len = s->len};
  if (places == NULL) {
    row.ahead = s->ahead;
    compare_stored(w, pass, &row, stored);
  } else if (s->buffer != NULL)
    row.copy = copy;
  gfs_crc_shards_add(w->checked->sums, &row);
}

static void run_piece(checked_work *w, const checked_span *s) {
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  for (unsigned j = 0; j < w->map->inputs; j++)
    src[j] = w->checked->src[j] + s->start;
  for (unsigned n = 0; n < w->map->dots; n++)
    run_pass(w, s, &w->map->pass[n], src);
  gfs_crc_row row = {.first = 0,
                     .count = w->map->inputs,
                     .data = src,
                     .start = s->start,
                     .len = s->len,
                     .ahead = s->ahead};
  gfs_crc_shards_add(w->checked->sums, &row);
}

static void fetch_start(const checked_work *w) {
  size_t bytes = gfs_least(w->len, w->ahead);
  for (unsigned j = 0; j < w->map->inputs; j++)
    gfs_prefetch_second(w->checked->src[j], bytes);
  for (unsigned i = 0; w->checked->dst == NULL && i < w->map->outputs; i++)
    gfs_prefetch_second(w->checked->stored[i], bytes);
}

bool gfs_map_apply_checked(const gfs_map *map, gfsmith_hint hint, size_t len,
                           const gfs_checked *checked) {
  alignas(GFS_CRC_LINE) uint8_t buffer[GFS_CHECK_BYTES];
  unsigned shards = map->inputs + map->outputs;
  gfs_path path = gfs_path_of(hint, shards, len);
  if (hint == GFSMITH_HINT_AUTO && path != GFS_PATH_cached)
    path = gfs_path_probed(path, shards, len, checked->src, map->inputs);
  checked_work w = cut_checked(map, path, len, checked);
  if (w.fetched)
    fetch_start(&w);
  for (size_t start = 0; start < len; start += w.piece) {
    checked_span s = {.start = start, .len = gfs_least(len - start, w.piece)};
    if (w.fetched && len - start >= w.ahead + s.len)
      s.ahead = w.ahead;
    if (checked->dst == NULL || (w.streamed && s.len == w.piece))
      s.buffer = buffer;
    run_piece(&w, &s);
  }
  if (w.streamed)
    gfs_stream_fence();
  return w.equal;
}
