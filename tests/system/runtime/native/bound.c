/* gfs_search_bound on ways to rebuild one lost shard: the first way from the equations, and that
 * way plus each spare equation. stdin: k m, the parity matrix; stdout: lost shard, shards read, 1
 * if that is proved least. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "codec.h"
#include "search.h"

static void say(const gfsmith_codec *codec, gfs_checks *checks, unsigned lost, const uint8_t *row) {
  unsigned width = codec->k + codec->m, reads = 0;
  bool least = false;
  for (unsigned column = 0; column < width; column++)
    reads += row[column] != 0;
  if (gfs_search_bound(&codec->field, width, gfs_checks_spares(checks),
                       gfs_checks_spare_rows(checks), lost, row, &least) != GFSMITH_OK)
    exit(1);
  printf("%u %u %d\n", lost, reads, least);
}

static void bound(const gfsmith_codec *codec, unsigned lost) {
  unsigned width = codec->k + codec->m;
  gfs_loss loss = {{0}, {0}};
  loss.missing[lost / 64] = loss.target[lost / 64] = UINT64_C(1) << lost % 64;
  gfs_checks *checks;
  if (gfs_checks_create(&checks, codec, &loss) != GFSMITH_OK)
    exit(1);
  uint8_t row[GFSMITH_MAX_SHARDS], other[GFSMITH_MAX_SHARDS];
  if (gfs_checks_express(checks, lost, row) && gfs_checks_spares(checks) > 0) {
    say(codec, checks, lost, row);
    for (unsigned n = 0; n < gfs_checks_spares(checks); n++) {
      memcpy(other, row, width);
      gfs_field_add_multiple(&codec->field, other, gfs_checks_spare_rows(checks) + n * width, 1,
                             width);
      say(codec, checks, lost, other);
    }
  }
  free(checks);
}

int main(void) {
  unsigned k, m, element;
  uint8_t parity[GFSMITH_MAX_SHARDS * GFSMITH_MAX_SHARDS];
  if (scanf("%u %u", &k, &m) != 2 || k + m > GFSMITH_MAX_SHARDS)
    return 1;
  for (unsigned n = 0; n < k * m; n++) {
    if (scanf("%u", &element) != 1)
      return 1;
    parity[n] = (uint8_t)element;
  }
  gfsmith_codec *codec;
  if (gfsmith_codec_create_matrix(&codec, 0x11d, k, m, parity) != GFSMITH_OK)
    return 1;
  for (unsigned lost = 0; lost < k + m; lost++)
    bound(codec, lost);
  gfsmith_codec_destroy(codec);
  return 0;
}
