#include "punctured.h"

#include <stdlib.h>
#include <string.h>

#include "checks.h"

void gfs_punctured_whole(gfs_punctured *out, const gfsmith_codec *codec) {
  out->data.count = out->parity.count = 0;
  for (unsigned shard = 0; shard < codec->k + codec->m; shard++)
    gfs_shards_append(shard < codec->k ? &out->data : &out->parity, shard);
  out->equations = (gfs_equations){&codec->field, codec->matrix, codec->k, codec->m};
  out->map = codec->encoder;
  out->own_map = NULL;
  out->own_matrix = NULL;
}

/* The parity whose equation became this spare row: the one that was processed last, since a row
 * changes by earlier rows only. Its coefficient is 1, and 0 in all other spare rows. */
static unsigned parity_of(const gfs_checks *checks, const uint8_t *row) {
  unsigned n = checks->parity.count;
  while (row[checks->parity.shard[n - 1]] == 0)
    n--;
  return checks->parity.shard[n - 1];
}

/* Distribute the roles: the parities of spare rows are spare, all other present shards data. */
static void assign(gfs_punctured *out, gfs_checks *checks, const gfs_loss *loss) {
  unsigned width = checks->codec->k + checks->codec->m;
  bool spare[GFSMITH_MAX_SHARDS] = {false};
  const uint8_t *rows = gfs_checks_spare_rows(checks);
  out->data.count = out->parity.count = 0;
  for (unsigned i = 0; i < gfs_checks_spares(checks); i++) {
    unsigned parity = parity_of(checks, rows + (size_t)i * width);
    gfs_shards_append(&out->parity, parity);
    spare[parity] = true;
  }
  for (unsigned shard = 0; shard < width; shard++)
    if (!gfs_loss_has(loss->missing, shard) && !spare[shard])
      gfs_shards_append(&out->data, shard);
}

/* Copy the columns of the data from the spare rows, and make the map. */
static gfsmith_status fill_matrix(gfs_punctured *out, gfs_checks *checks) {
  const gfsmith_codec *codec = checks->codec;
  unsigned width = codec->k + codec->m, k = out->data.count, m = out->parity.count;
  if (k == 0)
    return GFSMITH_EUNSUPPORTED;
  const uint8_t *rows = gfs_checks_spare_rows(checks);
  uint8_t *matrix = out->own_matrix = malloc((size_t)k * m);
  if (matrix == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned i = 0; i < m; i++)
    for (unsigned j = 0; j < k; j++)
      matrix[(size_t)i * k + j] = rows[(size_t)i * width + out->data.shard[j]];
  out->equations = (gfs_equations){&codec->field, matrix, k, m};
  gfsmith_status status = gfs_map_create(&out->own_map, codec->isa, &codec->field, k, m, matrix);
  out->map = out->own_map;
  return status;
}

gfsmith_status gfs_punctured_create(gfs_punctured *out, const gfsmith_codec *codec,
                                    const gfs_loss *loss) {
  gfs_checks *checks;
  gfsmith_status status = gfs_checks_create(&checks, codec, loss);
  if (status != GFSMITH_OK)
    return status;
  out->own_map = NULL;
  out->own_matrix = NULL;
  assign(out, checks, loss);
  status = fill_matrix(out, checks);
  free(checks);
  if (status != GFSMITH_OK)
    gfs_punctured_free(out);
  return status;
}

void gfs_punctured_free(gfs_punctured *code) {
  gfs_map_destroy(code->own_map);
  free(code->own_matrix);
}

unsigned gfs_punctured_shard(const gfs_punctured *code, unsigned n) {
  unsigned k = code->data.count;
  return n < k ? code->data.shard[n] : code->parity.shard[n - k];
}

bool gfs_punctured_syndromes(const gfs_punctured *code, gfs_path path, size_t offset, size_t len,
                             const uint8_t *const *shards, uint8_t *s, size_t pitch,
                             uint8_t *wrong) {
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  for (unsigned j = 0; j < code->data.count; j++)
    data[j] = shards[code->data.shard[j]] + offset;
  for (unsigned i = 0; i < code->parity.count; i++)
    dst[i] = s + i * pitch;
  gfs_map_apply_pieces(code->map, path, len, data, dst);
  unsigned equal = 0;
  while (equal < code->parity.count &&
         memcmp(dst[equal], shards[code->parity.shard[equal]] + offset, len) == 0)
    equal++;
  if (equal == code->parity.count)
    return false;
  memset(wrong, 0, len);
  for (unsigned i = 0; i < code->parity.count; i++) {
    const uint8_t *parity = shards[code->parity.shard[i]] + offset;
    for (size_t b = 0; b < len; b++)
      wrong[b] |= dst[i][b] ^= parity[b];
  }
  return true;
}
