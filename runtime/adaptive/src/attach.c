#include "attach.h"

#include <stdlib.h>

#include "call_path.h"
#include "coordinator.h"

static void detach(gfs_adaptive_map *self) { free((gfs_attached *)self); }

static bool has_variant(const gfs_variants *variants) {
  for (gfs_walk_kind walk = GFS_WALK_PIPELINED; walk < GFS_WALKS; walk++)
    if (variants->variant[walk].run[0] != NULL || variants->variant[walk].run[1] != NULL)
      return true;
  return false;
}

/* Is there a pass with a kernel for a known matrix? */
static bool matrix_known(const gfs_map *map) {
  for (unsigned n = 0; n < map->dots; n++)
    if (map->pass[n].tables == NULL)
      return true;
  return false;
}

gfsmith_status gfs_attach_map(gfs_coordinator *self, const gfs_isa *isa, const struct gfs_map *map,
                              gfs_adaptive_map **out) {
  gfsmith_adaptive *adaptive = (gfsmith_adaptive *)self;
  *out = NULL;
  if (map->inputs == 0) /* all results are 0: no order and nothing to prefetch */
    return GFSMITH_OK;
  gfs_attached *attached = malloc(sizeof *attached + map->mads * sizeof attached->table[0]);
  if (attached == NULL)
    return GFSMITH_ENOMEM;
  attached->base = (gfs_adaptive_map){
      .apply = gfs_call_path_apply, .apply_stripes = gfs_call_path_apply_stripes, .detach = detach};
  attached->base.coordinator = self;
  attached->key = gfs_key_map(isa->id, map->inputs, map->outputs, matrix_known(map));
  attached->k = map->inputs;
  attached->m = map->outputs;
  gfs_variants_find(&attached->variants, isa, map, attached->table);
  if (!has_variant(&attached->variants))
    gfs_coordinator_blind(
        adaptive, GFS_BLIND_KERNELS,
        "this build has no pipelined kernels for the instruction set and number of "
        "outputs; default and plain are all there is");
  *out = &attached->base;
  return GFSMITH_OK;
}
