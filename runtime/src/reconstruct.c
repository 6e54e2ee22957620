#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "solve.h"

/* Some of a codec's shards, by index: data j is j, parity i is k + i. */
typedef struct shard_list {
  unsigned count;
  uint8_t shard[GFSMITH_MAX_SHARDS];
} shard_list;

typedef struct loss_survey {
  shard_list data;   /* missing */
  shard_list parity; /* present, lightest first */
  shard_list target; /* missing and wanted */
  unsigned missing;
} loss_survey;

static void append(shard_list *list, unsigned shard) {
  list->shard[list->count++] = (uint8_t)shard;
}

/* Element `column` of the generator matrix's row `shard`: shard = sum of element * data[column]. */
static uint8_t generator(const gfsmith_codec *codec, unsigned shard, unsigned column) {
  if (shard < codec->k)
    return shard == column;
  return codec->matrix[(size_t)(shard - codec->k) * codec->k + column];
}

static unsigned weight(const gfsmith_codec *codec, unsigned shard) {
  unsigned nonzero = 0;
  for (unsigned column = 0; column < codec->k; column++)
    nonzero += generator(codec, shard, column) != 0;
  return nonzero;
}

/* Order by weight, then index (insertion sort: the list is in order for most codes). */
static void lightest_first(const gfsmith_codec *codec, shard_list *parity) {
  unsigned weights[GFSMITH_MAX_SHARDS];
  for (unsigned n = 0; n < parity->count; n++) {
    uint8_t shard = parity->shard[n];
    unsigned own = weight(codec, shard);
    unsigned at = n;
    for (; at > 0 && weights[at - 1] > own; at--) {
      weights[at] = weights[at - 1];
      parity->shard[at] = parity->shard[at - 1];
    }
    weights[at] = own;
    parity->shard[at] = shard;
  }
}

static void survey(const gfsmith_codec *codec, const bool *present, const bool *wanted,
                   loss_survey *loss) {
  loss->data.count = loss->parity.count = loss->target.count = loss->missing = 0;
  for (unsigned shard = 0; shard < codec->k + codec->m; shard++) {
    if (!present[shard]) {
      loss->missing++;
      if (shard < codec->k)
        append(&loss->data, shard);
      if (wanted == NULL || wanted[shard])
        append(&loss->target, shard);
    } else if (shard >= codec->k) {
      append(&loss->parity, shard);
    }
  }
  lightest_first(codec, &loss->parity);
}

/* The equations for y, column by column of the missing data: sum over parities p of
 * y[p][t] * generator[p][column] = generator[target t][column]. */
static void write_system(const gfsmith_codec *codec, const loss_survey *loss, uint8_t *system) {
  for (unsigned equation = 0; equation < loss->data.count; equation++) {
    unsigned column = loss->data.shard[equation];
    for (unsigned p = 0; p < loss->parity.count; p++)
      *system++ = generator(codec, loss->parity.shard[p], column);
    for (unsigned t = 0; t < loss->target.count; t++)
      *system++ = generator(codec, loss->target.shard[t], column);
  }
}

/* The target as a combination of all shards, k + m coefficients: y on the parities, and on the
 * present data what the target has there beyond what these parities bring along. On the missing
 * data that difference is zero, by the equations. */
static void write_row(const gfsmith_codec *codec, const loss_survey *loss, const uint8_t *y,
                      unsigned t, uint8_t *row) {
  memset(row, 0, codec->k + codec->m);
  for (unsigned column = 0; column < codec->k; column++)
    row[column] = generator(codec, loss->target.shard[t], column);
  for (unsigned p = 0; p < loss->parity.count; p++) {
    uint8_t factor = y[(size_t)p * loss->target.count + t];
    unsigned parity = loss->parity.shard[p];
    if (factor == 0)
      continue;
    row[parity] = factor;
    for (unsigned column = 0; column < codec->k; column++)
      row[column] ^= gfs_field_mul(&codec->field, factor, generator(codec, parity, column));
  }
  for (unsigned n = 0; n < loss->data.count; n++)
    row[loss->data.shard[n]] = 0;
}

/* Keep the columns of the matrix (`rows` rows of `width`) that are not all zero; say which. */
static void drop_zero_columns(uint8_t *matrix, unsigned rows, unsigned width, shard_list *kept) {
  kept->count = 0;
  for (unsigned column = 0; column < width; column++) {
    bool used = false;
    for (size_t row = 0; row < rows; row++)
      used = used || matrix[row * width + column] != 0;
    if (used)
      append(kept, column);
  }
  /* Elements only move towards the start, in reading order, so this may be done in place. */
  uint8_t *next = matrix;
  for (size_t row = 0; row < rows; row++)
    for (unsigned n = 0; n < kept->count; n++)
      *next++ = matrix[row * width + kept->shard[n]];
}

/* Find how the targets follow from present shards: *matrix (to be freed) has a row for every
 * target and a column for every source. */
static gfsmith_status plan(const gfsmith_codec *codec, const loss_survey *loss, shard_list *source,
                           uint8_t **matrix) {
  unsigned shards = codec->k + codec->m;
  size_t unknowns = loss->parity.count;
  size_t targets = loss->target.count;
  size_t system_size = loss->data.count * (unknowns + targets);
  size_t solution_size = unknowns * targets;
  uint8_t *rows = malloc(targets * shards + solution_size + system_size);
  if (rows == NULL)
    return GFSMITH_ENOMEM;
  uint8_t *solution = rows + targets * shards;
  uint8_t *system = solution + solution_size;
  write_system(codec, loss, system);
  if (!gfs_solve(&codec->field, loss->data.count, loss->parity.count, loss->target.count, system,
                 solution)) {
    free(rows);
    return GFSMITH_ESINGULAR;
  }
  for (unsigned t = 0; t < targets; t++)
    write_row(codec, loss, solution, t, rows + (size_t)t * shards);
  drop_zero_columns(rows, loss->target.count, shards, source);
  *matrix = rows;
  return GFSMITH_OK;
}

static gfsmith_status rebuild(const gfsmith_codec *codec, size_t len, uint8_t *const *shards,
                              const shard_list *source, const shard_list *target,
                              const uint8_t *matrix) {
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  for (unsigned n = 0; n < source->count; n++)
    if ((src[n] = shards[source->shard[n]]) == NULL)
      return GFSMITH_EINVAL;
  for (unsigned n = 0; n < target->count; n++)
    if ((dst[n] = shards[target->shard[n]]) == NULL)
      return GFSMITH_EINVAL;
  gfs_map *map;
  gfsmith_status status =
      gfs_map_create(&map, codec->isa, &codec->field, source->count, target->count, matrix);
  if (status != GFSMITH_OK)
    return status;
  gfs_map_apply(map, len, src, dst);
  free(map);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_reconstruct(const gfsmith_codec *codec, size_t len, uint8_t *const *shards,
                                   const bool *present, const bool *wanted) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (shards == NULL || present == NULL)
    return GFSMITH_EINVAL;
  loss_survey loss;
  survey(codec, present, wanted, &loss);
  if (loss.missing > codec->m)
    return GFSMITH_ETOOMANY;
  if (loss.target.count == 0)
    return GFSMITH_OK;
  shard_list source;
  uint8_t *matrix;
  gfsmith_status status = plan(codec, &loss, &source, &matrix);
  if (status != GFSMITH_OK)
    return status;
  status = rebuild(codec, len, shards, &source, &loss.target, matrix);
  free(matrix);
  return status;
}
