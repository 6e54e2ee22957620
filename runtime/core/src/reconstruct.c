#include "codec.h"
#include "parts.h"
#include "planner.h"

gfsmith_status gfs_repair_begin(const gfsmith_codec *codec, size_t len, uint8_t *const *shards,
                                const bool *present, const bool *wanted, gfs_repair *repair) {
  *repair = (gfs_repair){.plan = NULL};
  if (codec == NULL || present == NULL || (len > 0 && shards == NULL) ||
      !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  gfs_loss loss;
  if (gfs_loss_describe(codec, present, wanted, &loss) > codec->m)
    return GFSMITH_ETOOMANY;
  if (!gfs_loss_any(loss.target))
    return GFSMITH_OK;
  repair->plan = gfs_repairs_find(codec->repairs, &loss);
  if (repair->plan != NULL)
    return GFSMITH_OK;
  gfsmith_status status = gfs_plan_create(&repair->created, codec, &loss);
  repair->plan = repair->created;
  return status;
}

void gfs_repair_end(const gfsmith_codec *codec, const gfs_repair *repair) {
  if (repair->created != NULL && !gfs_repairs_keep(codec->repairs, repair->created))
    gfsmith_plan_destroy(repair->created);
}

gfsmith_status gfsmith_reconstruct(const gfsmith_codec *codec, size_t len, uint8_t *const *shards,
                                   const bool *present, const bool *wanted) {
  gfs_repair repair;
  gfsmith_status status = gfs_repair_begin(codec, len, shards, present, wanted, &repair);
  if (status != GFSMITH_OK)
    return status;
  if (repair.plan != NULL)
    status = gfs_plan_run(repair.plan, codec->hint, len, shards);
  gfs_repair_end(codec, &repair);
  return status;
}
