#include "plan.h"

#include <stdlib.h>

bool gfs_plan_select(const gfsmith_plan *plan, uint8_t *const *shards, const uint8_t **src,
                     uint8_t **dst) {
  for (unsigned n = 0; n < plan->read.count; n++)
    if ((src[n] = shards[plan->read.shard[n]]) == NULL)
      return false;
  for (unsigned n = 0; n < plan->target.count; n++)
    if ((dst[n] = shards[plan->target.shard[n]]) == NULL)
      return false;
  return true;
}

void gfs_plan_part(const gfsmith_plan *plan, gfsmith_hint hint, size_t len,
                   const uint8_t *const *src, uint8_t *const *dst) {
  if (plan->schedule != NULL)
    gfs_schedule_apply(plan->schedule, plan->packet, len, src, dst);
  else if (gfs_recode_pays(plan->recode, hint, plan->read.count + plan->target.count, len))
    gfs_recode_apply(plan->recode, len, src, dst);
  else if (plan->map != NULL)
    gfs_map_apply(plan->map, hint, len, src, dst);
}

gfsmith_status gfs_plan_run(const gfsmith_plan *plan, gfsmith_hint hint, size_t len,
                            uint8_t *const *shards) {
  if (len == 0)
    return GFSMITH_OK;
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  if (!gfs_plan_select(plan, shards, src, dst))
    return GFSMITH_EINVAL;
  gfs_plan_part(plan, hint, len, src, dst);
  return GFSMITH_OK;
}

const uint8_t *gfsmith_plan_reads(const gfsmith_plan *plan, unsigned *count) {
  if (count != NULL)
    *count = plan != NULL ? plan->read.count : 0;
  return plan != NULL ? plan->read.shard : NULL;
}

const uint8_t *gfsmith_plan_targets(const gfsmith_plan *plan, unsigned *count) {
  if (count != NULL)
    *count = plan != NULL ? plan->target.count : 0;
  return plan != NULL ? plan->target.shard : NULL;
}

const uint8_t *gfsmith_plan_matrix(const gfsmith_plan *plan) {
  return plan != NULL ? plan->matrix : NULL;
}

bool gfsmith_plan_is_least(const gfsmith_plan *plan) { return plan != NULL && plan->least; }

gfsmith_status gfsmith_plan_run(const gfsmith_plan *plan, size_t len, uint8_t *const *shards) {
  if (plan == NULL || (len > 0 && shards == NULL) ||
      (plan->packet > 0 && len % (GFS_PACKETS * plan->packet) != 0))
    return GFSMITH_EINVAL;
  return gfs_plan_run(plan, plan->hint, len, shards);
}

void gfsmith_plan_destroy(gfsmith_plan *plan) {
  if (plan == NULL)
    return;
  gfs_map_destroy(plan->map);
  gfs_recode_destroy(plan->recode);
  free(plan->schedule);
  free(plan);
}
