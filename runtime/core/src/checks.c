#include "checks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static unsigned weight(const gfsmith_codec *codec, unsigned parity) {
  const uint8_t *row = codec->matrix + (size_t)(parity - codec->k) * codec->k;
  unsigned nonzero = 0;
  for (unsigned column = 0; column < codec->k; column++)
    nonzero += row[column] != 0;
  return nonzero;
}

/* Sort by weight, then by index (insertion sort, because most codes have sorted parities). */
static void lightest_first(const gfsmith_codec *codec, gfs_shards *parity) {
  unsigned weights[GFSMITH_MAX_SHARDS];
  for (unsigned n = 0; n < parity->count; n++) {
    uint8_t shard = parity->shard[n];
    unsigned own = weight(codec, shard);
    unsigned at = n;
    for (; at > 0 && weights[at - 1] > own; at--) {
      weights[at] = weights[at - 1];
      parity->shard[at] = parity->shard[at - 1];
    }
    weights[at] = own;
    parity->shard[at] = shard;
  }
}

static size_t width_of(const gfs_checks *checks) { return checks->codec->k + checks->codec->m; }

static uint8_t *row_at(gfs_checks *checks, unsigned n) {
  return checks->row + n * width_of(checks);
}

static void write_equation(const gfsmith_codec *codec, unsigned parity, uint8_t *row) {
  memcpy(row, codec->matrix + (size_t)(parity - codec->k) * codec->k, codec->k);
  memset(row + codec->k, 0, codec->m);
  row[parity] = 1;
}

/* Add multiples of the pivot rows to make the row 0 at their shards. */
static void reduce_row(const gfs_checks *checks, uint8_t *row) {
  size_t width = width_of(checks);
  for (unsigned n = 0; n < checks->pivot.count; n++)
    gfs_field_add_multiple(&checks->codec->field, row, checks->row + n * width,
                           row[checks->pivot.shard[n]], width);
}

/* Process the next parity's equation: it becomes a pivot row if a missing shard remains in it. */
static void take(gfs_checks *checks) {
  const gfs_field *field = &checks->codec->field;
  size_t width = width_of(checks);
  uint8_t *row = row_at(checks, checks->pivot.count);
  write_equation(checks->codec, checks->parity.shard[checks->reduced++], row);
  reduce_row(checks, row);
  unsigned n = 0;
  while (n < checks->data.count && row[checks->data.shard[n]] == 0)
    n++;
  if (n == checks->data.count) {
    memmove(row_at(checks, checks->parity.count - ++checks->spare), row, width);
    return;
  }
  unsigned shard = checks->data.shard[n];
  gfs_field_scale(field, row, gfs_field_inverse(field, row[shard]), width);
  for (unsigned other = 0; other < checks->pivot.count; other++)
    gfs_field_add_multiple(field, row_at(checks, other), row, row_at(checks, other)[shard], width);
  gfs_shards_append(&checks->pivot, shard);
}

gfsmith_status gfs_checks_create(gfs_checks **out, const gfsmith_codec *codec,
                                 const gfs_loss *loss) {
  gfs_shards data = {.count = 0}, parity = {.count = 0};
  for (unsigned shard = 0; shard < codec->k + codec->m; shard++) {
    bool missing = gfs_loss_has(loss->missing, shard);
    if (missing && shard < codec->k)
      gfs_shards_append(&data, shard);
    if (!missing && shard >= codec->k)
      gfs_shards_append(&parity, shard);
  }
  lightest_first(codec, &parity);
  gfs_checks *checks = malloc(sizeof *checks + (size_t)parity.count * (codec->k + codec->m));
  if (checks == NULL)
    return GFSMITH_ENOMEM;
  *checks = (gfs_checks){.codec = codec, .data = data, .parity = parity};
  while (checks->pivot.count < data.count && checks->reduced < parity.count)
    take(checks);
  *out = checks;
  return GFSMITH_OK;
}

bool gfs_checks_express(const gfs_checks *checks, unsigned shard, uint8_t *row) {
  if (shard >= checks->codec->k) {
    write_equation(checks->codec, shard, row);
    reduce_row(checks, row);
  } else {
    unsigned n = 0;
    while (n < checks->pivot.count && checks->pivot.shard[n] != shard)
      n++;
    if (n == checks->pivot.count)
      return false;
    memcpy(row, checks->row + n * width_of(checks), width_of(checks));
  }
  row[shard] = 0; /* the shard is the sum of all others in its equation */
  for (unsigned n = 0; n < checks->data.count; n++)
    if (row[checks->data.shard[n]] != 0)
      return false;
  return true;
}

unsigned gfs_checks_spares(const gfs_checks *checks) {
  /* Equations are unprocessed only if all missing data have their pivot rows. */
  return checks->parity.count - checks->pivot.count;
}

const uint8_t *gfs_checks_spare_rows(gfs_checks *checks) {
  while (checks->reduced < checks->parity.count)
    take(checks);
  return row_at(checks, checks->parity.count - checks->spare);
}
