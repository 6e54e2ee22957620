/* gfsmith_locate: the syndromes of a call, part by part, and the shards that explain them. */
#include <stdalign.h>
#include <string.h>

#include "punctured.h"
#include "sizes.h"

/* A call, and the syndromes of a part of it, row i from s + i * pitch on. */
typedef struct inquiry {
  gfs_punctured code;
  size_t *counts;
  size_t pitch;
  uint8_t *s;
} inquiry;

/* Count all positions of the part as intact. */
static void accept(const inquiry *q, size_t len, uint16_t *where) {
  q->counts[q->code.equations.k + q->code.equations.m] += len;
  for (size_t b = 0; where != NULL && b < len; b++)
    where[b] = GFSMITH_INTACT;
}

/* Count the positions of the part, and write their shards to `where` unless it is NULL. */
static void judge(const inquiry *q, size_t len, const uint8_t *wrong, uint16_t *where) {
  const gfs_equations *equations = &q->code.equations;
  unsigned shards = equations->k + equations->m, shard = shards;
  for (size_t b = 0; b < len; b++) {
    uint16_t found = GFSMITH_INTACT;
    if (wrong[b] != 0) {
      shard = gfs_syndrome_culprit(equations, q->s + b, q->pitch, shard);
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
  inquiry q = {.counts = counts, .s = computed};
  gfs_punctured_whole(&q.code, codec);
  q.pitch = GFS_CHECK_BYTES / codec->m / GFS_CACHE_LINE * GFS_CACHE_LINE;
  gfs_path path = gfs_path_of_check(codec->hint, codec->k + codec->m, len);
  for (size_t done = 0, part; done < len; done += part) {
    part = gfs_least(len - done, q.pitch);
    uint16_t *named = where != NULL ? where + done : NULL;
    if (gfs_punctured_syndromes(&q.code, path, done, part, shards, q.s, q.pitch, wrong))
      judge(&q, part, wrong, named);
    else
      accept(&q, part, named);
  }
  return GFSMITH_OK;
}
