#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "solve.h"

typedef struct loss_survey {
  gfs_shards data;   /* missing */
  gfs_shards parity; /* present, lightest first */
  gfs_shards target; /* missing and wanted */
} loss_survey;

static void append(gfs_shards *list, unsigned shard) {
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
static void lightest_first(const gfsmith_codec *codec, gfs_shards *parity) {
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

static bool contains(const uint64_t *bits, unsigned shard) {
  return bits[shard / 64] >> shard % 64 & 1;
}

/* Write the loss. Returns how many shards are missing; *targets is how many are wanted of them. */
static unsigned describe(const gfsmith_codec *codec, const bool *present, const bool *wanted,
                         gfs_loss *loss, unsigned *targets) {
  unsigned missing = 0;
  *loss = (gfs_loss){{0}, {0}};
  *targets = 0;
  for (unsigned shard = 0; shard < codec->k + codec->m; shard++) {
    if (present[shard])
      continue;
    uint64_t bit = UINT64_C(1) << shard % 64;
    missing++;
    loss->missing[shard / 64] |= bit;
    if (wanted == NULL || wanted[shard]) {
      (*targets)++;
      loss->target[shard / 64] |= bit;
    }
  }
  return missing;
}

static void survey(const gfsmith_codec *codec, const gfs_loss *loss, loss_survey *found) {
  found->data.count = found->parity.count = found->target.count = 0;
  for (unsigned shard = 0; shard < codec->k + codec->m; shard++) {
    bool missing = contains(loss->missing, shard);
    if (missing && shard < codec->k)
      append(&found->data, shard);
    if (!missing && shard >= codec->k)
      append(&found->parity, shard);
    if (contains(loss->target, shard))
      append(&found->target, shard);
  }
  lightest_first(codec, &found->parity);
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
static void drop_zero_columns(uint8_t *matrix, unsigned rows, unsigned width, gfs_shards *kept) {
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
static gfsmith_status plan(const gfsmith_codec *codec, const loss_survey *loss, gfs_shards *source,
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

/* Work out how a loss is repaired: *out is to be freed. */
static gfsmith_status work_out(const gfsmith_codec *codec, const gfs_loss *loss, gfs_repair **out) {
  loss_survey found;
  survey(codec, loss, &found);
  gfs_repair *repair = malloc(sizeof *repair);
  if (repair == NULL)
    return GFSMITH_ENOMEM;
  *repair = (gfs_repair){.loss = *loss, .target = found.target};
  uint8_t *matrix;
  gfsmith_status status = plan(codec, &found, &repair->source, &matrix);
  if (status == GFSMITH_OK) {
    unsigned inputs = repair->source.count, outputs = repair->target.count;
    status = codec->packets != NULL
                 ? gfs_schedule_create(&repair->schedule, codec->isa, &codec->field, inputs,
                                       outputs, matrix)
                 : gfs_map_create(&repair->map, codec->isa, &codec->field, inputs, outputs, matrix);
    free(matrix);
  }
  if (status != GFSMITH_OK) {
    gfs_repair_free(repair);
    return status;
  }
  *out = repair;
  return GFSMITH_OK;
}

static gfsmith_status rebuild(const gfsmith_codec *codec, const gfs_repair *repair, size_t len,
                              uint8_t *const *shards) {
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  for (unsigned n = 0; n < repair->source.count; n++)
    if ((src[n] = shards[repair->source.shard[n]]) == NULL)
      return GFSMITH_EINVAL;
  for (unsigned n = 0; n < repair->target.count; n++)
    if ((dst[n] = shards[repair->target.shard[n]]) == NULL)
      return GFSMITH_EINVAL;
  if (repair->schedule != NULL)
    gfs_schedule_apply(repair->schedule, codec->packets->packet, len, src, dst);
  else
    gfs_map_apply(repair->map, codec->hint, len, src, dst);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_reconstruct(const gfsmith_codec *codec, size_t len, uint8_t *const *shards,
                                   const bool *present, const bool *wanted) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (shards == NULL || present == NULL || !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  gfs_loss loss;
  unsigned targets;
  if (describe(codec, present, wanted, &loss, &targets) > codec->m)
    return GFSMITH_ETOOMANY;
  if (targets == 0)
    return GFSMITH_OK;
  const gfs_repair *kept = gfs_repairs_find(codec->repairs, &loss);
  if (kept != NULL)
    return rebuild(codec, kept, len, shards);
  gfs_repair *repair;
  gfsmith_status status = work_out(codec, &loss, &repair);
  if (status != GFSMITH_OK)
    return status;
  status = rebuild(codec, repair, len, shards);
  if (!gfs_repairs_keep(codec->repairs, repair))
    gfs_repair_free(repair);
  return status;
}
