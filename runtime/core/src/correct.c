/* gfsmith_correct: the wrong symbols of every byte position, and their correction. */
#include <stdalign.h>
#include <string.h>

#include "grs.h"
#include "planner.h"
#include "punctured.h"
#include "sizes.h"

/* A call: its shards, and the results. */
typedef struct correction {
  gfs_punctured code;
  gfs_grs grs;
  bool algebraic; /* a generalised Reed-Solomon code; otherwise one wrong shard per position */
  uint8_t *const *shards;
  size_t *counts; /* of shards, then of intact positions, then of uncorrected ones */
  unsigned total; /* shards of the codec */
} correction;

/* Choose the decoder; EUNSUPPORTED if one wrong shard cannot be distinguished from any other. */
static gfsmith_status prepare(correction *c, const gfsmith_codec *codec) {
  c->algebraic = gfs_grs_find(&c->grs, &c->code.equations);
  /* A punctured MDS code is MDS, and no two columns of its two or more equations are dependent. */
  if (c->algebraic || codec->mds || gfs_columns_differ(&c->code.equations))
    return GFSMITH_OK;
  return GFSMITH_EUNSUPPORTED;
}

/* Explain a non-zero syndrome; the number of errors, 0 if too many shards are wrong. */
static unsigned decode_position(const correction *c, const uint8_t *s, size_t pitch,
                                gfs_error *errors) {
  const gfs_equations *equations = &c->code.equations;
  if (c->algebraic)
    return gfs_grs_decode(&c->grs, s, pitch, errors);
  unsigned shards = equations->k + equations->m;
  unsigned shard = gfs_syndrome_culprit(equations, s, pitch, shards);
  if (shard == shards)
    return 0;
  errors[0] = (gfs_error){(uint8_t)shard, gfs_syndrome_error(equations, shard, s, pitch)};
  return 1;
}

/* Correct the position if possible. The number of corrected symbols, or GFSMITH_UNEXPLAINED. */
static uint16_t repair(const correction *c, size_t position, const uint8_t *s, size_t pitch) {
  gfs_error errors[GFSMITH_MAX_SHARDS / 2];
  unsigned count = decode_position(c, s, pitch, errors);
  for (unsigned n = 0; n < count; n++) {
    unsigned shard = gfs_punctured_shard(&c->code, errors[n].shard);
    c->shards[shard][position] ^= errors[n].value;
    c->counts[shard]++;
  }
  if (count == 0)
    c->counts[c->total + 1]++;
  return count > 0 ? (uint16_t)count : GFSMITH_UNEXPLAINED;
}

static void correct_parts(const correction *c, gfs_path path, size_t len, uint16_t *found) {
  alignas(GFS_CACHE_LINE) uint8_t s[GFS_CHECK_BYTES];
  uint8_t wrong[GFS_CHECK_BYTES / 2];
  size_t pitch = GFS_CHECK_BYTES / c->code.equations.m / GFS_CACHE_LINE * GFS_CACHE_LINE;
  for (size_t done = 0, part; done < len; done += part) {
    part = gfs_least(len - done, pitch);
    if (!gfs_punctured_syndromes(&c->code, path, done, part, (const uint8_t *const *)c->shards, s,
                                 pitch, wrong))
      memset(wrong, 0, part);
    for (size_t b = 0; b < part; b++) {
      uint16_t symbols = wrong[b] != 0 ? repair(c, done + b, s + b, pitch) : 0;
      c->counts[c->total] += symbols == 0;
      if (found != NULL)
        found[done + b] = symbols;
    }
  }
}

/* Are the pointers of all present shards given? */
static bool shards_given(const correction *c) {
  const gfs_punctured *code = &c->code;
  for (unsigned n = 0; n < code->equations.k + code->equations.m; n++)
    if (c->shards == NULL || c->shards[gfs_punctured_shard(code, n)] == NULL)
      return false;
  return true;
}

gfsmith_status gfsmith_correct(const gfsmith_codec *codec, size_t len, uint8_t *const *shards,
                               const bool *present, size_t *counts, uint16_t *found) {
  if (codec == NULL || (len > 0 && counts == NULL))
    return GFSMITH_EINVAL;
  if (codec->m < 2 || codec->packets != NULL)
    return GFSMITH_EUNSUPPORTED;
  correction c = {.shards = shards, .counts = counts, .total = codec->k + codec->m};
  gfs_loss loss;
  unsigned missing = present != NULL ? gfs_loss_describe(codec, present, NULL, &loss) : 0;
  gfsmith_status status = missing + 2 <= codec->m ? GFSMITH_OK : GFSMITH_ETOOMANY;
  if (missing == 0)
    gfs_punctured_whole(&c.code, codec);
  else if (status == GFSMITH_OK)
    status = gfs_punctured_create(&c.code, codec, &loss);
  if (status != GFSMITH_OK)
    return status;
  status = prepare(&c, codec);
  if (status == GFSMITH_OK && len > 0 && !shards_given(&c))
    status = GFSMITH_EINVAL;
  if (status == GFSMITH_OK && counts != NULL)
    memset(counts, 0, (c.total + 2) * sizeof *counts);
  if (status == GFSMITH_OK)
    correct_parts(&c, gfs_path_of_check(codec->hint, c.total, len), len, found);
  gfs_punctured_free(&c.code);
  return status;
}
