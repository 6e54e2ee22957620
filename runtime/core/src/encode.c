#include <stdalign.h>
#include <string.h>

#include "check_steps.h"
#include "codec.h"
#include "ending.h"
#include "inlining.h"
#include "parts.h"
#include "sizes.h"

static GFS_NOT_INLINED gfsmith_status encode(const gfsmith_codec *codec, size_t len,
                                             const uint8_t *const *data, uint8_t *const *parity) {
  if (len == 0)
    return GFSMITH_OK;
  if (!gfs_encode_valid(codec, len, data, parity))
    return GFSMITH_EINVAL;
  gfs_encode_part(codec, codec->hint, len, data, parity);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_encode(const gfsmith_codec *codec, size_t len, const uint8_t *const *data,
                              uint8_t *const *parity) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (!gfs_length_within(len, codec->short_encode) || !gfs_clearly_given(data, codec->k) ||
      !gfs_clearly_given((const uint8_t *const *)parity, codec->m))
    return encode(codec, len, data, parity);
  const gfs_pass *pass = codec->encoder->pass;
  return gfs_end_with(pass->kernel[GFS_PATH_cached], len, codec->k, pass->tables, data, parity);
}

/* The state of gfs_check_part, which compares the shards in parts of len bytes. */
typedef struct comparison {
  const gfsmith_codec *codec;
  const uint8_t *const *shards;
  gfs_path path;
} comparison;

/* Do the pass's parities match on the part at `offset`? len <= GFS_CHECK_BYTES / pass->outputs. */
static bool pass_matches(const comparison *c, const gfs_pass *pass, size_t len,
                         const uint8_t *const *data, size_t offset) {
  alignas(GFS_CACHE_LINE) uint8_t computed[GFS_CHECK_BYTES];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  const uint8_t *const *parity = c->shards + c->codec->k + pass->first;
  for (unsigned i = 0; i < pass->outputs; i++)
    dst[i] = computed + i * len;
  pass->kernel[c->path](len, c->codec->k, pass->tables, data, dst);
  for (unsigned i = 0; i < pass->outputs; i++)
    if (memcmp(dst[i], parity[i] + offset, len) != 0)
      return false;
  return true;
}

static bool part_matches(const comparison *c, size_t len, size_t offset) {
  const gfs_map *encoder = c->codec->encoder;
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  for (unsigned j = 0; j < encoder->inputs; j++)
    data[j] = c->shards[j] + offset;
  for (unsigned n = 0; n < encoder->dots; n++)
    if (!pass_matches(c, &encoder->pass[n], len, data, offset))
      return false;
  return true;
}

/* The bytes of a shard to check at a time: the parities of any pass must fit on the stack, and with
 * several passes the sources should stay in cache. */
static size_t check_chunk(const gfs_map *encoder) {
  unsigned outputs = 1;
  for (unsigned n = 0; n < encoder->dots; n++)
    if (encoder->pass[n].outputs > outputs)
      outputs = encoder->pass[n].outputs;
  size_t fits = GFS_CHECK_BYTES / outputs / GFS_CACHE_LINE * GFS_CACHE_LINE;
  size_t chunk = gfs_map_chunk(encoder->inputs + encoder->outputs);
  return encoder->dots > 1 && chunk < fits ? chunk : fits;
}

bool gfs_check_valid(const gfsmith_codec *codec, size_t len, const uint8_t *const *shards,
                     const bool *ok) {
  return ok != NULL && gfs_all_given(shards, codec->k + codec->m) && gfs_length_valid(codec, len);
}

bool gfs_check_part(const gfsmith_codec *codec, gfsmith_hint hint, size_t len,
                    const uint8_t *const *shards) {
  if (codec->packets != NULL)
    return gfs_schedule_matches(codec->packets->encoder, codec->packets->packet, len, shards,
                                shards + codec->k);
  bool match = true;
  unsigned count = codec->k + codec->m;
  comparison c = {.codec = codec, .shards = shards};
  c.path = gfs_path_of_check(hint, count, len);
  if (hint == GFSMITH_HINT_AUTO)
    c.path = gfs_path_probed(c.path, count, len, shards, codec->k);
  const gfs_check_steps steps =
      gfs_check_steps_of(c.path, shards, count, len, check_chunk(codec->encoder));
  for (size_t done = 0; match && done < len;) {
    size_t part = gfs_check_next(&steps, done);
    match = part_matches(&c, part, done);
    done += part;
  }
  return match;
}

gfsmith_status gfsmith_check(const gfsmith_codec *codec, size_t len, const uint8_t *const *shards,
                             bool *ok) {
  if (codec == NULL || (len > 0 && !gfs_check_valid(codec, len, shards, ok)))
    return GFSMITH_EINVAL;
  if (ok != NULL)
    *ok = len == 0 || gfs_check_part(codec, codec->hint, len, shards);
  return GFSMITH_OK;
}
