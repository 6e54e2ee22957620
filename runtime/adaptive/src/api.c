/* The functions of gfsmith_adaptive.h, and the coordinator that the environment requests. */
#include <stdlib.h>

#include "attach.h"
#include "codec.h"
#include "coordinator.h"
#include "options.h"
#include "thread.h"

/* Begin with valid options, except that the policy may be none; `adaptive` is zero before. */
static void begin(gfsmith_adaptive *adaptive, const gfsmith_adaptive_options *options) {
  gfs_policy policy;
  adaptive->base.attach = gfs_attach_map;
  gfs_coordinator_begin(adaptive, options);
  if (options->policy == NULL)
    return;
  if (gfs_policy_read(options->policy, &policy))
    atomic_store(&adaptive->base.forced, gfs_policy_pack(policy));
  else
    gfs_coordinator_blind(
        adaptive, GFS_BLIND_POLICY,
        "GFSMITH_ADAPT_POLICY is not a policy (docs/adaptive.md lists them); adapting");
}

gfsmith_status gfsmith_adaptive_create(gfsmith_adaptive **out,
                                       const gfsmith_adaptive_options *options) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  gfs_policy policy;
  if (options != NULL && (!gfs_options_valid(options) ||
                          (options->policy != NULL && !gfs_policy_read(options->policy, &policy))))
    return GFSMITH_EINVAL;
  gfsmith_adaptive_options environment;
  gfs_options_environment(&environment);
  gfsmith_adaptive *adaptive = calloc(1, sizeof *adaptive);
  if (adaptive == NULL)
    return GFSMITH_ENOMEM;
  begin(adaptive, options != NULL ? options : &environment);
  *out = adaptive;
  return GFSMITH_OK;
}

void gfsmith_adaptive_destroy(gfsmith_adaptive *adaptive) {
  if (adaptive == NULL)
    return;
  gfs_coordinator_end(adaptive);
  free(adaptive);
}

gfsmith_status gfsmith_adaptive_force(gfsmith_adaptive *adaptive, const char *policy) {
  gfs_policy read;
  if (adaptive == NULL || (policy != NULL && !gfs_policy_read(policy, &read)))
    return GFSMITH_EINVAL;
  atomic_store(&adaptive->base.forced, policy != NULL ? gfs_policy_pack(read) : 0);
  return GFSMITH_OK;
}

size_t gfsmith_adaptive_policy(const gfsmith_adaptive *adaptive, const gfsmith_codec *codec,
                               size_t len, char *text, size_t size) {
  if (size > 0 && text != NULL)
    text[0] = '\0';
  if (adaptive == NULL || codec == NULL || (size > 0 && text == NULL) || len == 0 ||
      codec->adaptive != &adaptive->base || codec->packets != NULL ||
      gfs_path_is_cached(gfs_path_of(codec->hint, codec->k + codec->m, len)))
    return 0;
  const gfs_attached *attached = (const gfs_attached *)codec->encoder->adaptive;
  gfsmith_adaptive *shared = gfs_coordinator_of(attached); /* the same object, for reading */
  uint32_t packed = atomic_load(&shared->base.forced);
  if (packed == 0) {
    uint32_t key = gfs_attached_key(attached, len, false, atomic_load(&shared->conditions));
    const gfs_cell *cell = gfs_cells_find(&shared->cells, key);
    if (cell == NULL)
      return 0;
    packed = atomic_load(&cell->policy);
  }
  return gfs_policy_text(gfs_policy_unpack(packed), text, size);
}

gfsmith_status gfsmith_codec_adaptive(gfsmith_codec *codec, gfsmith_adaptive *adaptive) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  gfs_coordinator *coordinator = adaptive != NULL ? &adaptive->base : NULL;
  /* Cached repair plans are attached to the previous coordinator. */
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

/* The common coordinator, for codecs without their own; never destroyed, because a thread may use
 * it while the program ends. It is a part of the library, so that nothing is left when a program
 * unloads the library, except for open counters. */
static gfsmith_adaptive common;

#if defined(__GNUC__) || defined(__clang__)
/* Runs when the library is unloaded, and when the program ends. */
__attribute__((destructor)) static void close_common_trace(void) { gfs_trace_close(&common.trace); }
#endif

static void begin_common(void) {
  gfsmith_adaptive_options environment;
  gfs_options_environment(&environment);
  begin(&common, &environment);
  if (gfs_options_wanted() < 0)
    gfs_coordinator_blind(&common, GFS_BLIND_WANTED,
                          "GFSMITH_ADAPT: allowed: 0 (off), 1 (on); taken as 0");
}

gfsmith_status gfs_adaptive_environment(gfsmith_codec *codec) {
  static gfs_once begun = GFS_ONCE;
  int wanted = gfs_options_wanted();
  if (wanted != 0)
    gfs_once_run(&begun, begin_common);
  return wanted == 1 ? gfsmith_codec_adaptive(codec, &common) : GFSMITH_OK;
}
