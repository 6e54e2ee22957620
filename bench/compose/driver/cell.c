#include "cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 65536, LINE = 64 };

size_t cell_pitch(size_t length) { return (length + LINE - 1) / LINE * LINE + LINE; }

static uint64_t splitmix(uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

void pattern_fill(uint8_t *to, unsigned shard, size_t offset, size_t length) {
  for (size_t n = 0; n < length;) {
    size_t at = offset + n, first = at % 8;
    uint64_t word = splitmix((at / 8 + 1) * 0x9E3779B97F4A7C15u + ((uint64_t)shard << 40));
    size_t take = 8 - first < length - n ? 8 - first : length - n;
    memcpy(to + n, (uint8_t *)&word + first, take);
    n += take;
  }
}

int cell_codec(gfsmith_codec **out, const shape *shape) {
  if (shape->l > 0)
    return gfsmith_codec_create_lrc(out, shape->k, shape->l, shape->r);
  return gfsmith_codec_create(out, "cauchy", shape->k, shape->m);
}

/* Layout of the graph: rank j holds shard j; rank k + m has the data to encode, and receives the
 * lost shard. */
static int lay_out(cell *cell, char *reason) {
  const shape *shape = &cell->shape;
  unsigned shards = shape->k + shape->m;
  uint16_t holder[GFSMITH_MAX_SHARDS], sink[GFSMITH_MAX_SHARDS];
  bool present[GFSMITH_MAX_SHARDS];
  for (unsigned j = 0; j < shards; j++) {
    present[j] = (int)j != shape->lost;
    holder[j] = (uint16_t)(present[j] ? j : shards);
    sink[j] = (uint16_t)shards;
  }
  bool repair = shape->lost >= 0;
  gfsmith_graph_request request = {.scheme = shape->scheme,
                                   .codec = cell->codec,
                                   .k = shape->k,
                                   .m = shape->m,
                                   .holder = holder,
                                   .present = repair ? present : NULL,
                                   .sink = repair ? sink : NULL,
                                   .source = (uint16_t)shards};
  return gfsmith_graph_create(&cell->graph, &request, reason);
}

static bool has(const cell *cell, unsigned j) {
  const shape *shape = &cell->shape;
  if (shape->lost < 0)
    return cell->rank == shape->k + shape->m && j < shape->k;
  return cell->rank == j && (int)j != shape->lost;
}

static bool gets(const cell *cell, unsigned j) {
  const shape *shape = &cell->shape;
  if (shape->lost < 0)
    return cell->rank == j;
  return cell->rank == shape->k + shape->m && (int)j == shape->lost;
}

/* Generate the stripe piece by piece, for the shards that this rank holds and the ones that it is
 * to receive. */
static bool fill(const cell *cell, uint8_t *const *keep) {
  const shape *shape = &cell->shape;
  unsigned shards = shape->k + shape->m;
  uint8_t *piece = malloc((size_t)shards * PIECE), *all[GFSMITH_MAX_SHARDS];
  bool good = piece != NULL, parity = false;
  for (unsigned j = 0; good && j < shards; j++) {
    all[j] = piece + (size_t)j * PIECE;
    parity = parity || (j >= shape->k && keep[j] != NULL);
  }
  for (size_t at = 0; good && at < shape->length; at += PIECE) {
    size_t length = shape->length - at < PIECE ? shape->length - at : PIECE;
    for (unsigned j = 0; j < shape->k; j++)
      if (parity || keep[j] != NULL)
        pattern_fill(all[j], j, at, length);
    good = !parity || gfsmith_encode(cell->codec, length, (const uint8_t *const *)all,
                                     all + shape->k) == GFSMITH_OK;
    for (unsigned j = 0; good && j < shards; j++)
      if (keep[j] != NULL)
        memcpy(keep[j] + at, all[j], length);
  }
  free(piece);
  return good;
}

/* Allocate memory: inputs once, outputs for each place of the window, and separately the expected
 * outputs. */
static bool provide(cell *cell) {
  const shape *shape = &cell->shape;
  size_t size = cell_pitch(shape->length);
  unsigned inputs = 0, shards = shape->k + shape->m;
  for (unsigned j = 0; j < shards; j++) {
    cell->gets[j] = gets(cell, j);
    cell->outputs += cell->gets[j];
    inputs += has(cell, j);
  }
  size_t bytes = (inputs + (size_t)cell->outputs * shape->window) * size;
  cell->memory = aligned_alloc(LINE, bytes + LINE);
  cell->expected = aligned_alloc(LINE, cell->outputs * size + LINE);
  if (cell->memory == NULL || cell->expected == NULL)
    return false;
  uint8_t *next = cell->memory, *wanted = cell->expected, *keep[GFSMITH_MAX_SHARDS] = {0};
  for (unsigned j = 0; j < shards; j++) {
    if (!cell->gets[j] && !has(cell, j))
      continue;
    for (unsigned place = 0; place < shape->window; place++)
      cell->shard[place][j] = next + (cell->gets[j] ? place * size : 0);
    keep[j] = cell->gets[j] ? wanted : next;
    wanted += cell->gets[j] ? size : 0;
    next += (cell->gets[j] ? shape->window : 1) * size;
  }
  return fill(cell, keep) &&
         gfsmith_region_create(&cell->region, cell->node, cell->memory, bytes + LINE) == GFSMITH_OK;
}

bool cell_open(cell *out, gfsmith_node *node, const shape *shape, char *reason) {
  *out = (cell){.node = node, .shape = *shape, .rank = gfsmith_node_rank(node)};
  int status = cell_codec(&out->codec, shape);
  if (status != GFSMITH_OK) {
    snprintf(reason, REASON, "no such code: %s", gfsmith_strerror(status));
    return false;
  }
  status = lay_out(out, reason);
  if (status == GFSMITH_OK && !provide(out)) {
    status = GFSMITH_ENOMEM;
    snprintf(reason, REASON, "no memory for shards of %zu bytes", shape->length);
  }
  if (status != GFSMITH_OK)
    cell_close(out);
  return status == GFSMITH_OK;
}

void cell_close(cell *cell) {
  gfsmith_region_destroy(cell->region);
  gfsmith_choices_destroy(cell->choices);
  gfsmith_graph_destroy(cell->graph);
  gfsmith_codec_destroy(cell->codec);
  free(cell->memory);
  free(cell->expected);
  *cell = (struct cell){0};
}
