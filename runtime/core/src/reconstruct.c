#include "codec.h"
#include "planner.h"

gfsmith_status gfsmith_reconstruct(const gfsmith_codec *codec, size_t len, uint8_t *const *shards,
                                   const bool *present, const bool *wanted) {
  if (codec == NULL || present == NULL || (len > 0 && shards == NULL) ||
      !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  gfs_loss loss;
  if (gfs_loss_describe(codec, present, wanted, &loss) > codec->m)
    return GFSMITH_ETOOMANY;
  if (!gfs_loss_any(loss.target))
    return GFSMITH_OK;
  const gfsmith_plan *kept = gfs_repairs_find(codec->repairs, &loss);
  if (kept != NULL)
    return gfs_plan_run(kept, codec->hint, len, shards);
  gfsmith_plan *plan;
  gfsmith_status status = gfs_plan_create(&plan, codec, &loss);
  if (status != GFSMITH_OK)
    return status;
  status = gfs_plan_run(plan, codec->hint, len, shards);
  if (!gfs_repairs_keep(codec->repairs, plan))
    gfsmith_plan_destroy(plan);
  return status;
}
