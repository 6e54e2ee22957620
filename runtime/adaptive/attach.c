/* Codecs and their maps at a coordinator. */
#include <stdlib.h>

#include "codec.h"
#include "coordinator.h"
#include "options.h"

static void detach(gfs_adaptive_map *self) { free((gfs_attached *)self); }

static bool has_variant(const gfs_variants *variants) {
  for (gfs_walk_kind walk = GFS_WALK_PIPELINED; walk < GFS_WALKS; walk++)
    if (variants->variant[walk].run[0] != NULL || variants->variant[walk].run[1] != NULL)
      return true;
  return false;
}

/* Does a pass of the map know its matrix? */
static bool matrix_known(const gfs_map *map) {
  for (unsigned n = 0; n < map->dots; n++)
    if (map->pass[n].tables == NULL)
      return true;
  return false;
}

gfsmith_status gfs_adaptive_attach(gfs_coordinator *self, const gfs_isa *isa,
                                   const struct gfs_map *map, gfs_adaptive_map **out) {
  gfsmith_adaptive *adaptive = (gfsmith_adaptive *)self;
  *out = NULL;
  gfs_attached *attached = malloc(sizeof *attached + map->mads * sizeof attached->table[0]);
  if (attached == NULL)
    return GFSMITH_ENOMEM;
  attached->base = (gfs_adaptive_map){.apply = gfs_adaptive_apply, .detach = detach};
  attached->base.coordinator = self;
  attached->key = gfs_key_map(isa->id, map->inputs, map->outputs, matrix_known(map));
  attached->k = map->inputs;
  attached->m = map->outputs;
  gfs_variants_find(&attached->variants, isa, map, attached->table);
  if (!has_variant(&attached->variants))
    gfs_adaptive_blind(adaptive, GFS_BLIND_KERNELS,
                       "this build has no pipelined kernels for the instruction set and number of "
                       "outputs; default and plain are all there is");
  *out = &attached->base;
  return GFSMITH_OK;
}

gfsmith_status gfsmith_codec_adaptive(gfsmith_codec *codec, gfsmith_adaptive *adaptive) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  gfs_coordinator *coordinator = adaptive != NULL ? &adaptive->base : NULL;
  /* Repairs that were met are attached to what was. */
  gfs_repairs *repairs = gfs_repairs_create();
  if (repairs == NULL)
    return GFSMITH_ENOMEM;
  gfs_adaptive_map *before = codec->encoder->adaptive;
  gfsmith_status status = gfs_map_attach(codec->encoder, codec->isa, coordinator);
  if (status != GFSMITH_OK) {
    codec->encoder->adaptive = before;
    gfs_repairs_free(repairs);
    return status;
  }
  if (coordinator == NULL)
    codec->encoder->adaptive = NULL;
  if (before != NULL)
    before->detach(before);
  gfs_repairs_free(codec->repairs);
  codec->repairs = repairs;
  codec->adaptive = coordinator;
  return GFSMITH_OK;
}

/* The coordinator of codecs that no program has given one; never destroyed. */
static _Atomic(gfsmith_adaptive *) common;

gfsmith_status gfs_adaptive_environment(gfsmith_codec *codec) {
  gfsmith_adaptive *adaptive = atomic_load(&common);
  if (adaptive == NULL) {
    int wanted = gfs_options_wanted();
    if (wanted == 0)
      return GFSMITH_OK;
    gfsmith_adaptive *made;
    gfsmith_status status = gfsmith_adaptive_create(&made, NULL);
    if (status != GFSMITH_OK)
      return status;
    if (atomic_compare_exchange_strong(&common, &adaptive, made)) {
      adaptive = made;
      if (wanted < 0)
        gfs_adaptive_blind(adaptive, GFS_BLIND_WANTED,
                           "GFSMITH_ADAPT: allowed are 0 (off) and 1 (on); taken as 0");
    } else
      gfsmith_adaptive_destroy(made);
  }
  return gfs_options_wanted() == 1 ? gfsmith_codec_adaptive(codec, adaptive) : GFSMITH_OK;
}
