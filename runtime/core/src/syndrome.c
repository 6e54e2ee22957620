#include "syndrome.h"

#include "gfsmith.h"

/* Element `row` of a shard's column. */
static uint8_t column(const gfs_equations *equations, unsigned shard, unsigned row) {
  if (shard >= equations->k)
    return shard - equations->k == row;
  return equations->matrix[(size_t)row * equations->k + shard];
}

/* The first row in which the shard's column is not 0, or m. */
static unsigned first_row(const gfs_equations *equations, unsigned shard) {
  unsigned row = 0;
  while (row < equations->m && column(equations, shard, row) == 0)
    row++;
  return row;
}

/* The error of a shard that explains the syndrome and whose column begins in row `first`. */
static uint8_t shard_error(const gfs_equations *equations, unsigned shard, unsigned first,
                           const uint8_t *s, size_t pitch) {
  uint8_t inverse = gfs_field_inverse(equations->field, column(equations, shard, first));
  return gfs_field_mul(equations->field, s[first * pitch], inverse);
}

uint8_t gfs_syndrome_error(const gfs_equations *equations, unsigned shard, const uint8_t *s,
                           size_t pitch) {
  return shard_error(equations, shard, first_row(equations, shard), s, pitch);
}

/* Is the syndrome a multiple of the shard's column? s[i * pitch]. */
static bool explains(const gfs_equations *equations, unsigned shard, const uint8_t *s,
                     size_t pitch) {
  unsigned row = first_row(equations, shard);
  if (row == equations->m)
    return false;
  for (unsigned above = 0; above < row; above++)
    if (s[above * pitch] != 0)
      return false;
  uint8_t error = shard_error(equations, shard, row, s, pitch);
  while (++row < equations->m)
    if (s[row * pitch] != gfs_field_mul(equations->field, error, column(equations, shard, row)))
      return false;
  return true;
}

bool gfs_columns_differ(const gfs_equations *equations) {
  uint8_t s[GFSMITH_MAX_SHARDS];
  for (unsigned shard = 0; shard < equations->k; shard++) {
    bool zero = true;
    for (unsigned i = 0; i < equations->m; i++)
      zero = (s[i] = column(equations, shard, i)) == 0 && zero;
    if (zero)
      return false;
    for (unsigned other = shard + 1; other < equations->k + equations->m; other++)
      if (explains(equations, other, s, 1))
        return false;
  }
  return true;
}

unsigned gfs_syndrome_culprit(const gfs_equations *equations, const uint8_t *s, size_t pitch,
                              unsigned guess) {
  unsigned shards = equations->k + equations->m;
  if (guess < shards && explains(equations, guess, s, pitch))
    return guess;
  for (unsigned shard = 0; shard < shards; shard++)
    if (explains(equations, shard, s, pitch))
      return shard;
  return shards;
}
