/* gfsmith_locate: the syndromes of a call, part by part, and the shards that explain them. */
#include <stdalign.h>
#include <string.h>

#include "codec.h"
#include "sizes.h"
#include "syndrome.h"

/* A call, and the syndromes of a part of `len` positions, row i from s + i * pitch on. */
typedef struct inquiry {
  const gfsmith_codec *codec;
  gfs_equations equations;
  const uint8_t *const *shards;
  size_t *counts;
  gfs_path path;
  size_t pitch;
  uint8_t *s;
} inquiry;

/* Compute the parities of the part at `offset`. Are they equal to the stored ones? */
static bool matches(const inquiry *q, size_t offset, size_t len) {
  const gfsmith_codec *codec = q->codec;
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  for (unsigned j = 0; j < codec->k; j++)
    data[j] = q->shards[j] + offset;
  for (unsigned i = 0; i < codec->m; i++)
    dst[i] = q->s + i * q->pitch;
  gfs_map_apply_pieces(codec->encoder, q->path, len, data, dst);
  for (unsigned i = 0; i < codec->m; i++)
    if (memcmp(dst[i], q->shards[codec->k + i] + offset, len) != 0)
      return false;
  return true;
}

/* Turn the computed parities into syndromes. wrong[b]: is the syndrome of position b non-zero? */
static void compare(const inquiry *q, size_t offset, size_t len, uint8_t *wrong) {
  memset(wrong, 0, len);
  for (unsigned i = 0; i < q->codec->m; i++) {
    const uint8_t *parity = q->shards[q->codec->k + i] + offset;
    uint8_t *s = q->s + i * q->pitch;
    for (size_t b = 0; b < len; b++)
      wrong[b] |= s[b] ^= parity[b];
  }
}

/* Count all positions of the part as intact. */
static void accept(const inquiry *q, size_t len, uint16_t *where) {
  q->counts[q->codec->k + q->codec->m] += len;
  for (size_t b = 0; where != NULL && b < len; b++)
    where[b] = GFSMITH_INTACT;
}

/* Count the positions of the part, and write their shards to `where` unless it is NULL. */
static void judge(const inquiry *q, size_t len, const uint8_t *wrong, uint16_t *where) {
  unsigned shards = q->codec->k + q->codec->m, shard = shards;
  for (size_t b = 0; b < len; b++) {
    uint16_t found = GFSMITH_INTACT;
    if (wrong[b] != 0) {
      shard = gfs_syndrome_culprit(&q->equations, q->s + b, q->pitch, shard);
      found = shard < shards ? (uint16_t)shard : GFSMITH_UNEXPLAINED;
    }
    q->counts[found < shards ? found : found == GFSMITH_INTACT ? shards : shards + 1]++;
    if (where != NULL)
      where[b] = found;
  }
}

gfsmith_status gfsmith_locate(const gfsmith_codec *codec, size_t len, const uint8_t *const *shards,
                              size_t *counts, uint16_t *where) {
  alignas(GFS_CACHE_LINE) uint8_t computed[GFS_CHECK_BYTES];
  uint8_t wrong[GFS_CHECK_BYTES / 2];
  if (codec == NULL || (len > 0 && counts == NULL))
    return GFSMITH_EINVAL;
  if (!codec->locates || codec->packets != NULL)
    return GFSMITH_EUNSUPPORTED;
  if (len > 0 && !gfs_all_given(shards, codec->k + codec->m))
    return GFSMITH_EINVAL;
  if (counts != NULL)
    memset(counts, 0, (codec->k + codec->m + 2) * sizeof *counts);
  inquiry q = {.codec = codec, .shards = shards, .counts = counts, .s = computed};
  q.equations = (gfs_equations){&codec->field, codec->matrix, codec->k, codec->m};
  q.pitch = GFS_CHECK_BYTES / codec->m / GFS_CACHE_LINE * GFS_CACHE_LINE;
  q.path = gfs_path_of_check(codec->hint, codec->k + codec->m, len);
  for (size_t done = 0, part; done < len; done += part) {
    part = gfs_least(len - done, q.pitch);
    uint16_t *named = where != NULL ? where + done : NULL;
    if (matches(&q, done, part)) {
      accept(&q, part, named);
    } else {
      compare(&q, done, part, wrong);
      judge(&q, part, wrong, named);
    }
  }
  return GFSMITH_OK;
}
