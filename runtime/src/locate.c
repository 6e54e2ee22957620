/* Which shard is wrong. The equations of the code (checks.h) applied to the shards of one byte
 * position give the syndrome s, m elements, 0 if nothing is wrong:
 *
 *     s[i] = parity[i] + sum over j of c[i][j] * data[j].
 *
 * If the shard with column h of the equations is wrong by e and all else is right, s = e * h. No
 * column being a multiple of another, at most one shard explains a syndrome. */
#include <stdalign.h>
#include <string.h>

#include "codec.h"
#include "sizes.h"

/* Element `row` of a shard's column. */
static uint8_t column(const gfsmith_codec *codec, unsigned shard, unsigned row) {
  if (shard >= codec->k)
    return shard - codec->k == row;
  return codec->matrix[(size_t)row * codec->k + shard];
}

/* Is the syndrome a multiple of the shard's column? s[i * pitch]. */
static bool explains(const gfsmith_codec *codec, unsigned shard, const uint8_t *s, size_t pitch) {
  unsigned row = 0;
  while (row < codec->m && column(codec, shard, row) == 0)
    if (s[row++ * pitch] != 0)
      return false;
  if (row == codec->m)
    return false;
  uint8_t inverse = gfs_field_inverse(&codec->field, column(codec, shard, row));
  uint8_t error = gfs_field_mul(&codec->field, s[row * pitch], inverse);
  while (++row < codec->m)
    if (s[row * pitch] != gfs_field_mul(&codec->field, error, column(codec, shard, row)))
      return false;
  return true;
}

bool gfs_columns_differ(const gfsmith_codec *codec) {
  uint8_t s[GFSMITH_MAX_SHARDS];
  for (unsigned shard = 0; shard < codec->k; shard++) {
    bool zero = true;
    for (unsigned i = 0; i < codec->m; i++)
      zero = (s[i] = column(codec, shard, i)) == 0 && zero;
    if (zero)
      return false;
    for (unsigned other = shard + 1; other < codec->k + codec->m; other++)
      if (explains(codec, other, s, 1))
        return false;
  }
  return true;
}

/* The shard that explains a syndrome that is not 0, `guess` first; k + m if none does. */
static unsigned culprit(const gfsmith_codec *codec, const uint8_t *s, size_t pitch,
                        unsigned guess) {
  unsigned shards = codec->k + codec->m;
  if (guess < shards && explains(codec, guess, s, pitch))
    return guess;
  for (unsigned shard = 0; shard < shards; shard++)
    if (explains(codec, shard, s, pitch))
      return shard;
  return shards;
}

/* A call, and a part of it: the syndromes of `len` positions, row i from s + i * pitch on. */
typedef struct inquiry {
  const gfsmith_codec *codec;
  const uint8_t *const *shards;
  size_t *counts;
  gfs_path path;
  size_t pitch;
  uint8_t *s;
} inquiry;

/* Compute the parities of the part at `offset`; are they those that are there? */
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

/* Make syndromes of the computed parities; wrong[b]: is that of position b other than 0? */
static void compare(const inquiry *q, size_t offset, size_t len, uint8_t *wrong) {
  memset(wrong, 0, len);
  for (unsigned i = 0; i < q->codec->m; i++) {
    const uint8_t *parity = q->shards[q->codec->k + i] + offset;
    uint8_t *s = q->s + i * q->pitch;
    for (size_t b = 0; b < len; b++)
      wrong[b] |= s[b] ^= parity[b];
  }
}

/* Count all of the part's positions as intact. */
static void accept(const inquiry *q, size_t len, uint16_t *where) {
  q->counts[q->codec->k + q->codec->m] += len;
  for (size_t b = 0; where != NULL && b < len; b++)
    where[b] = GFSMITH_INTACT;
}

/* Count the part's positions, and name their shards from `where` on if that is not NULL. */
static void judge(const inquiry *q, size_t len, const uint8_t *wrong, uint16_t *where) {
  unsigned shards = q->codec->k + q->codec->m, shard = shards;
  for (size_t b = 0; b < len; b++) {
    uint16_t found = GFSMITH_INTACT;
    if (wrong[b] != 0) {
      shard = culprit(q->codec, q->s + b, q->pitch, shard);
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
  q.pitch = GFS_CHECK_BYTES / codec->m / GFS_CACHE_LINE * GFS_CACHE_LINE;
  q.path = gfs_dispatch_check_path(codec->hint, codec->k + codec->m, len);
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
