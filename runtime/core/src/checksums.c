/* The functions of gfsmith_checksum.h on the shards of a codec. */
#include <string.h>

#include "checksummed.h"
#include "codec.h"
#include "parts.h"

/* Do shards of this number and length come from memory? In a core's own cache a pass for the
 * checksums, which folds longer messages, is faster than pieces. */
static bool in_memory(gfsmith_hint hint, unsigned shards, size_t len) {
  return !gfs_path_is_cached(gfs_path_of(hint, shards, len));
}

/* The same, for a map that no coordinator cuts into pieces of its own. */
static bool in_pieces(const gfs_map *map, gfsmith_hint hint, size_t len) {
  return map->adaptive == NULL && in_memory(hint, map->inputs + map->outputs, len);
}

static bool valid_for(const gfsmith_codec *codec, gfs_crc_shards *sums, gfsmith_checksum kind,
                      size_t len, uint64_t *states) {
  return codec != NULL &&
         gfs_crc_shards_begin(sums, kind, len, codec->k + codec->m, states) == GFSMITH_OK;
}

void gfs_encode_checked(const gfsmith_codec *codec, gfsmith_hint hint, gfs_crc_shards *sums,
                        const uint8_t *const *data, uint8_t *const *parity, uint64_t *states) {
  size_t len = sums->len;
  gfs_crc_shards_number(sums, 0, codec->k + codec->m, NULL, states);
  if (codec->packets == NULL && in_pieces(codec->encoder, hint, len)) {
    gfs_checked checked = {.sums = sums, .src = data, .dst = parity};
    gfs_map_apply_checked(codec->encoder, hint, len, &checked);
    return;
  }
  gfs_encode_part(codec, hint, len, data, parity);
  gfs_crc_shards_update(sums, 0, codec->k, data);
  gfs_crc_shards_update(sums, codec->k, codec->m, (const uint8_t *const *)parity);
}

gfsmith_status gfsmith_encode_checksums(const gfsmith_codec *codec, gfsmith_checksum kind,
                                        size_t len, const uint8_t *const *data,
                                        uint8_t *const *parity, uint64_t *states) {
  gfs_crc_shards sums;
  if (!valid_for(codec, &sums, kind, len, states))
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (!gfs_encode_valid(codec, len, data, parity))
    return GFSMITH_EINVAL;
  gfs_encode_checked(codec, codec->hint, &sums, data, parity, states);
  return GFSMITH_OK;
}

/* Run a plan and advance the checksums of all shards that it reads or writes. */
static gfsmith_status run_plan(const gfsmith_plan *plan, gfsmith_hint hint, gfs_crc_shards *sums,
                               uint8_t *const *shards, uint64_t *states) {
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  size_t len = sums->len;
  unsigned count = plan->read.count + plan->target.count;
  if (!gfs_plan_select(plan, shards, src, dst))
    return GFSMITH_EINVAL;
  gfs_crc_shards_number(sums, 0, plan->read.count, plan->read.shard, states);
  gfs_crc_shards_number(sums, plan->read.count, plan->target.count, plan->target.shard, states);
  if (plan->map != NULL && in_pieces(plan->map, hint, len) &&
      !gfs_recode_pays(plan->recode, hint, count, len)) {
    gfs_checked checked = {.sums = sums, .src = src, .dst = dst};
    gfs_map_apply_checked(plan->map, hint, len, &checked);
    return GFSMITH_OK;
  }
  gfs_plan_part(plan, hint, len, src, dst);
  gfs_crc_shards_update(sums, 0, plan->read.count, src);
  gfs_crc_shards_update(sums, plan->read.count, plan->target.count, (const uint8_t *const *)dst);
  return GFSMITH_OK;
}

/* Compare the checksums of the shards that a plan has read. */
static void compare_read(const gfsmith_codec *codec, const gfsmith_plan *plan,
                         const uint64_t *states, const uint64_t *expected, bool *wrong) {
  memset(wrong, 0, (codec->k + codec->m) * sizeof *wrong);
  for (unsigned n = 0; plan != NULL && n < plan->read.count; n++) {
    unsigned shard = plan->read.shard[n];
    wrong[shard] = states[shard] != expected[shard];
  }
}

gfsmith_status gfsmith_reconstruct_checksums(const gfsmith_codec *codec, gfsmith_checksum kind,
                                             size_t len, uint8_t *const *shards,
                                             const bool *present, const bool *wanted,
                                             uint64_t *states, const uint64_t *expected,
                                             bool *wrong) {
  gfs_crc_shards sums;
  if (!valid_for(codec, &sums, kind, len, states) || (expected != NULL && wrong == NULL) ||
      (expected != NULL && states == NULL))
    return GFSMITH_EINVAL;
  gfs_repair repair;
  gfsmith_status status = gfs_repair_begin(codec, len, shards, present, wanted, &repair);
  if (status != GFSMITH_OK)
    return status;
  if (repair.plan != NULL && len > 0)
    status = run_plan(repair.plan, codec->hint, &sums, shards, states);
  if (status == GFSMITH_OK && expected != NULL)
    compare_read(codec, repair.plan, states, expected, wrong);
  gfs_repair_end(codec, &repair);
  return status;
}

gfsmith_status gfsmith_check_checksums(const gfsmith_codec *codec, gfsmith_checksum kind,
                                       size_t len, const uint8_t *const *shards, uint64_t *states,
                                       bool *ok) {
  gfs_crc_shards sums;
  if (!valid_for(codec, &sums, kind, len, states) ||
      (len > 0 && !gfs_check_valid(codec, len, shards, ok)))
    return GFSMITH_EINVAL;
  bool equal = true;
  if (len > 0)
    gfs_crc_shards_number(&sums, 0, codec->k + codec->m, NULL, states);
  if (len > 0 && codec->packets == NULL && in_memory(codec->hint, codec->k + codec->m, len)) {
    gfs_checked checked = {.sums = &sums, .src = shards, .stored = shards + codec->k};
    equal = gfs_map_apply_checked(codec->encoder, codec->hint, len, &checked);
  } else if (len > 0) {
    equal = gfs_check_part(codec, codec->hint, len, shards);
    gfs_crc_shards_update(&sums, 0, codec->k + codec->m, shards);
  }
  if (ok != NULL)
    *ok = equal;
  return GFSMITH_OK;
}
