#include <stdalign.h>
#include <string.h>

#include "codec.h"

/* What gfsmith_check may take of the stack for parities it recomputes. */
#define CHECK_BYTES 16384u
#define CHECK_ALIGN 64u

gfsmith_status gfsmith_encode(const gfsmith_codec *codec, size_t len, const uint8_t *const *data,
                              uint8_t *const *parity) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (!gfs_all_given(data, codec->k) || !gfs_all_given((const uint8_t *const *)parity, codec->m))
    return GFSMITH_EINVAL;
  gfs_map_apply(codec->encoder, len, data, parity);
  return GFSMITH_OK;
}

static bool can_accumulate(const gfs_map *map) {
  for (unsigned g = 0; g < map->groups; g++)
    if (map->group[g].mad == NULL)
      return false;
  return true;
}

gfsmith_status gfsmith_update(const gfsmith_codec *codec, size_t len, unsigned data_index,
                              const uint8_t *delta, uint8_t *const *parity) {
  if (codec == NULL || data_index >= codec->k)
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (delta == NULL || !gfs_all_given((const uint8_t *const *)parity, codec->m))
    return GFSMITH_EINVAL;
  if (!can_accumulate(codec->encoder))
    return GFSMITH_EUNSUPPORTED;
  gfs_map_accumulate(codec->encoder, len, data_index, delta, parity);
  return GFSMITH_OK;
}

/* Do the group's parities match on len bytes? len <= CHECK_BYTES / group->outputs. */
static bool group_matches(const gfs_group *group, unsigned inputs, size_t len,
                          const uint8_t *const *data, const uint8_t *const *parity, size_t offset) {
  alignas(CHECK_ALIGN) uint8_t computed[CHECK_BYTES];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  for (unsigned i = 0; i < group->outputs; i++)
    dst[i] = computed + i * len;
  group->dot(len, inputs, group->tables, data, dst);
  for (unsigned i = 0; i < group->outputs; i++)
    if (memcmp(dst[i], parity[i] + offset, len) != 0)
      return false;
  return true;
}

/* The bytes of a shard to check at a time: in cache, and any group's parities fit on the stack. */
static size_t check_chunk(const gfsmith_codec *codec) {
  unsigned outputs = 1;
  for (unsigned g = 0; g < codec->encoder->groups; g++)
    if (codec->encoder->group[g].outputs > outputs)
      outputs = codec->encoder->group[g].outputs;
  size_t fits = CHECK_BYTES / outputs / CHECK_ALIGN * CHECK_ALIGN;
  size_t chunk = gfs_map_chunk(codec->k + codec->m);
  return chunk < fits ? chunk : fits;
}

static bool chunk_matches(const gfsmith_codec *codec, size_t len, const uint8_t *const *shards,
                          size_t offset) {
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  for (unsigned j = 0; j < codec->k; j++)
    data[j] = shards[j] + offset;
  for (unsigned g = 0; g < codec->encoder->groups; g++) {
    const gfs_group *group = &codec->encoder->group[g];
    if (!group_matches(group, codec->k, len, data, shards + codec->k + group->first, offset))
      return false;
  }
  return true;
}

gfsmith_status gfsmith_check(const gfsmith_codec *codec, size_t len, const uint8_t *const *shards,
                             bool *ok) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len > 0 && (ok == NULL || !gfs_all_given(shards, codec->k + codec->m)))
    return GFSMITH_EINVAL;
  bool match = true;
  size_t chunk = check_chunk(codec);
  for (size_t done = 0; match && done < len;) {
    size_t part = len - done < chunk ? len - done : chunk;
    match = chunk_matches(codec, part, shards, done);
    done += part;
  }
  if (ok != NULL)
    *ok = match;
  return GFSMITH_OK;
}
