#include "planner.h"

#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "search.h"

unsigned gfs_loss_describe(const gfsmith_codec *codec, const bool *present, const bool *wanted,
                           gfs_loss *loss) {
  unsigned missing = 0;
  *loss = (gfs_loss){{0}, {0}};
  for (unsigned shard = 0; shard < codec->k + codec->m; shard++) {
    if (present[shard])
      continue;
    uint64_t bit = UINT64_C(1) << shard % 64;
    missing++;
    loss->missing[shard / 64] |= bit;
    if (wanted == NULL || wanted[shard])
      loss->target[shard / 64] |= bit;
  }
  return missing;
}

/* Write a repair of every target: a row of k + m coefficients each. */
static gfsmith_status choose(const gfsmith_codec *codec, gfs_checks *checks,
                             const gfs_shards *target, uint8_t *rows, bool *least) {
  unsigned width = codec->k + codec->m;
  for (unsigned t = 0; t < target->count; t++)
    if (!gfs_checks_express(checks, target->shard[t], rows + (size_t)t * width))
      return GFSMITH_ESINGULAR;
  unsigned spares = gfs_checks_spares(checks);
  *least = true;
  /* In an MDS code every equation contains at least k + 1 shards, and these rows read k others:
   * they are minimal. */
  if (codec->mds || spares == 0 || target->count == 0)
    return GFSMITH_OK;
  const uint8_t *spare = gfs_checks_spare_rows(checks);
  gfsmith_status status = GFSMITH_OK;
  *least = false;
  if (gfs_search_possible(width, spares, target->count))
    status = gfs_search(&codec->field, width, spares, spare, target->count, rows, least);
  if (status == GFSMITH_OK && !*least && target->count == 1)
    status = gfs_search_bound(&codec->field, width, spares, spare, target->shard[0], rows, least);
  return status;
}

/* The shards whose columns are not all zero. */
static void used_columns(const uint8_t *rows, unsigned count, unsigned width, gfs_shards *used) {
  used->count = 0;
  for (unsigned column = 0; column < width; column++) {
    bool zero = true;
    for (unsigned t = 0; t < count; t++)
      zero = zero && rows[(size_t)t * width + column] == 0;
    if (!zero)
      gfs_shards_append(used, column);
  }
}

/* Add the repair with the encoder's kernels to a plan with a map, if it is faster. */
static gfsmith_status recode(gfsmith_plan *plan, const gfsmith_codec *codec) {
  gfs_equations code = {&codec->field, codec->matrix, codec->k, codec->m};
  gfs_dense_repair dense = {.isa = codec->isa, .code = &code, .encoder = codec->encoder};
  dense.read = &plan->read;
  dense.target = &plan->target;
  dense.matrix = plan->matrix;
  dense.map = plan->map;
  return gfs_recode_create(&plan->recode, &dense);
}

/* Create the plan of these rows; *out must be freed. */
static gfsmith_status bind(gfsmith_plan **out, const gfsmith_codec *codec, const gfs_loss *loss,
                           const gfs_shards *target, const uint8_t *rows) {
  unsigned width = codec->k + codec->m;
  gfs_shards read;
  used_columns(rows, target->count, width, &read);
  size_t bytes = sizeof(gfsmith_plan) + (size_t)target->count * read.count;
  gfsmith_plan *plan = malloc(bytes);
  if (plan == NULL)
    return GFSMITH_ENOMEM;
  *plan = (gfsmith_plan){.bytes = bytes, .loss = *loss, .read = read, .target = *target};
  plan->hint = codec->hint;
  plan->packet = codec->packets != NULL ? codec->packets->packet : 0;
  for (unsigned t = 0; t < target->count; t++)
    for (unsigned n = 0; n < read.count; n++)
      plan->matrix[(size_t)t * read.count + n] = rows[(size_t)t * width + read.shard[n]];
  gfsmith_status status = GFSMITH_OK;
  if (target->count == 0)
    status = GFSMITH_OK;
  else if (codec->packets != NULL)
    status = gfs_schedule_create(&plan->schedule, codec->isa, &codec->field, read.count,
                                 target->count, plan->matrix);
  else
    status = gfs_map_create(&plan->map, codec->isa, &codec->field, read.count, target->count,
                            plan->matrix);
  if (status == GFSMITH_OK && plan->map != NULL && codec->mds)
    status = recode(plan, codec);
  if (status == GFSMITH_OK && plan->map != NULL)
    status = gfs_map_attach(plan->map, codec->isa, codec->adaptive);
  if (status != GFSMITH_OK) {
    gfsmith_plan_destroy(plan);
    return status;
  }
  plan->bytes += plan->schedule != NULL ? plan->schedule->bytes : 0;
  plan->bytes += plan->map != NULL ? plan->map->bytes : 0;
  plan->bytes += gfs_recode_bytes(plan->recode);
  *out = plan;
  return GFSMITH_OK;
}

gfsmith_status gfs_plan_create(gfsmith_plan **out, const gfsmith_codec *codec,
                               const gfs_loss *loss) {
  gfs_shards target = {.count = 0};
  for (unsigned shard = 0; shard < codec->k + codec->m; shard++)
    if (gfs_loss_has(loss->target, shard))
      gfs_shards_append(&target, shard);
  gfs_checks *checks;
  gfsmith_status status = gfs_checks_create(&checks, codec, loss);
  if (status != GFSMITH_OK)
    return status;
  bool least = false;
  uint8_t *rows = malloc((size_t)(target.count + 1) * (codec->k + codec->m));
  status = rows == NULL ? GFSMITH_ENOMEM : choose(codec, checks, &target, rows, &least);
  if (status == GFSMITH_OK)
    status = bind(out, codec, loss, &target, rows);
  if (status == GFSMITH_OK)
    (*out)->least = least;
  free(rows);
  free(checks);
  return status;
}

gfsmith_status gfsmith_plan_create(gfsmith_plan **out, const gfsmith_codec *codec,
                                   const bool *present, const bool *wanted) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  if (codec == NULL || present == NULL)
    return GFSMITH_EINVAL;
  gfs_loss loss;
  if (gfs_loss_describe(codec, present, wanted, &loss) > codec->m)
    return GFSMITH_ETOOMANY;
  return gfs_plan_create(out, codec, &loss);
}

gfsmith_status gfsmith_determined(const gfsmith_codec *codec, const bool *present,
                                  bool *determined) {
  if (codec == NULL || present == NULL || determined == NULL)
    return GFSMITH_EINVAL;
  gfs_loss loss;
  gfs_loss_describe(codec, present, NULL, &loss);
  gfs_checks *checks;
  gfsmith_status status = gfs_checks_create(&checks, codec, &loss);
  if (status != GFSMITH_OK)
    return status;
  uint8_t row[GFSMITH_MAX_SHARDS];
  for (unsigned shard = 0; shard < codec->k + codec->m; shard++)
    determined[shard] = present[shard] || gfs_checks_express(checks, shard, row);
  free(checks);
  return GFSMITH_OK;
}
