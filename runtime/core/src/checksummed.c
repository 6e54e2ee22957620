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

/* The most sources of the loop that encodes and folds. Loads of two sources by an instruction in
 * turn are not recognised by the prefetcher of the CPU, and of more the loop is slower than pieces.
 */
#define FUSED_SOURCES 19u

/* The fewest bytes of a shard for it. */
#define FUSED_MIN 2048u

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
  w.fetched = !gfs_path_is_cached(path);
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

/* The loop that folds all sources and has the first pass; NULL: there is none, or pieces are
 * faster. */
static gfs_crc_encode *fused_loop(const checked_work *w) {
  const gfs_map *map = w->map;
  gfs_crc_shards *sums = w->checked->sums;
  unsigned outputs = map->pass[0].outputs;
  if (!w->fetched || w->len < FUSED_MIN || map->inputs > FUSED_SOURCES || w->checked->dst == NULL ||
      map->format != GFS_FORMAT_affine || outputs != map->pass[map->dots].outputs)
    return NULL;
  return gfs_crc_shards_encode(sums, map->inputs, outputs);
}

/* Run the loop on a span of whole steps, then the other passes. After the last bytes a row without
 * bytes finishes the checksums that the loop has advanced. */
static void run_steps(checked_work *w, gfs_crc_encode *loop, const checked_span *s) {
  uint8_t *shards[GFSMITH_MAX_SHARDS];
  unsigned inputs = w->map->inputs;
  const gfs_pass *pass = &w->map->pass[w->map->dots]; /* the first pass, with tables */
  gfs_crc_shards *sums = w->checked->sums;
  for (unsigned j = 0; j < inputs; j++)
    shards[j] = (uint8_t *)(uintptr_t)(w->checked->src[j] + s->start);
  for (unsigned i = 0; i < pass->outputs; i++)
    shards[inputs + i] = w->checked->dst[i] + s->start;
  loop(s->len, inputs, pass->tables, shards, sums->crc, sums->message[0], s->ahead, w->streamed);
  for (unsigned n = 1; n < w->map->dots; n++)
    run_pass(w, s, &w->map->pass[n], (const uint8_t *const *)shards);
  gfs_crc_row end = {.first = 0,
                     .count = inputs + pass->outputs,
                     .data = (const uint8_t *const *)shards,
                     .start = w->len};
  if (s->start + s->len == w->len)
    gfs_crc_shards_add(sums, &end);
}

/* Apply the map by the loop, and other passes piece by piece. Pieces of one or two lines at the
 * start, and of less than a line at the end, begin and finish the checksums. */
static void run_fused(checked_work *w, gfs_crc_encode *loop, uint8_t *buffer) {
  size_t lines = w->len / GFS_CRC_LINE, tail = w->len % GFS_CRC_LINE, end = w->len - tail;
  checked_span first = {.len = (2 - lines % 2) * GFS_CRC_LINE};
  size_t last = w->ahead - (tail > 0 ? GFS_CRC_STEP : 0);
  size_t behind = end - first.len;
  size_t middle = first.len + behind - gfs_least(behind, last);
  run_piece(w, &first);
  for (size_t start = first.len; start < end;) {
    bool fetching = start < middle;
    checked_span s = {.start = start, .len = (fetching ? middle : end) - start};
    if (fetching)
      s.ahead = w->ahead;
    if (w->map->dots > 1)
      s.len = gfs_least(s.len, w->piece);
    if (w->streamed)
      s.buffer = buffer;
    run_steps(w, loop, &s);
    start += s.len;
  }
  checked_span rest = {.start = end, .len = tail};
  if (tail > 0)
    run_piece(w, &rest);
}

/* Prefetch the beginning of each shard, all first lines first. */
static void fetch_start(const checked_work *w) {
  size_t bytes = gfs_least(w->len, w->ahead);
  for (size_t at = 0; at < bytes; at += GFS_CRC_LINE)
    for (unsigned j = 0; j < w->map->inputs; j++)
      GFS_PREFETCH_SECOND(w->checked->src[j] + at);
  for (unsigned i = 0; w->checked->dst == NULL && i < w->map->outputs; i++)
    gfs_prefetch_second(w->checked->stored[i], bytes);
}

static void run_pieces(checked_work *w, uint8_t *buffer) {
  for (size_t start = 0; start < w->len; start += w->piece) {
    checked_span s = {.start = start, .len = gfs_least(w->len - start, w->piece)};
    if (w->fetched && w->len - start >= w->ahead + s.len)
      s.ahead = w->ahead;
    if (w->checked->dst == NULL || (w->streamed && s.len == w->piece))
      s.buffer = buffer;
    run_piece(w, &s);
  }
}

bool gfs_map_apply_checked(const gfs_map *map, gfsmith_hint hint, size_t len,
                           const gfs_checked *checked) {
  alignas(GFS_CRC_LINE) uint8_t buffer[GFS_CHECK_BYTES];
  unsigned shards = map->inputs + map->outputs;
  gfs_path path = gfs_path_of(hint, shards, len);
  if (hint == GFSMITH_HINT_AUTO && !gfs_path_is_cached(path))
    path = gfs_path_probed(path, shards, len, checked->src, map->inputs);
  checked_work w = cut_checked(map, path, len, checked);
  gfs_crc_encode *loop = fused_loop(&w);
  if (loop != NULL)
    w.ahead = AHEAD / 2;
  if (w.fetched)
    fetch_start(&w);
  if (loop != NULL)
    run_fused(&w, loop, buffer);
  else
    run_pieces(&w, buffer);
  if (w.streamed)
    gfs_stream_fence();
  return w.equal;
}
