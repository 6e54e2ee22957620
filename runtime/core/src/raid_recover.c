#include <stdalign.h>
#include <string.h>

#include "codec.h"
#include "raid.h"
#include "sizes.h"

enum {
  PARITIES = GFS_RAID_PARITIES,
  DATA = GFSMITH_RAID_MAX_DATA,
};

/* The missing shards, and the sources of their recovery: all present data and as many of the
 * present parities as data shards are missing. Indices count parities from 0. */
typedef struct loss {
  unsigned k;
  unsigned lost_data, lost_parities, helpers;
  uint8_t data[PARITIES], parity[PARITIES];
  uint8_t helper[PARITIES];
} loss;

/* Row i of the parity matrix: (2^i)^j. */
typedef struct powers {
  gfs_field field;
  uint8_t row[PARITIES][DATA];
} powers;

/* False if more than m shards are missing. */
static bool survey(loss *l, unsigned k, unsigned m, const bool *present) {
  *l = (loss){.k = k};
  for (unsigned n = 0; n < k + m; n++) {
    if (present[n])
      continue;
    if (l->lost_data + l->lost_parities == m)
      return false;
    if (n < k)
      l->data[l->lost_data++] = (uint8_t)n;
    else
      l->parity[l->lost_parities++] = (uint8_t)(n - k);
  }
  for (unsigned i = 0; l->helpers < l->lost_data; i++)
    if (present[k + i])
      l->helper[l->helpers++] = (uint8_t)i;
  return true;
}

/* Collect the sources in the order of the matrix's columns, data first, and the destinations in the
 * order of its rows. False if a pointer is NULL. */
static bool collect(const loss *l, uint8_t *const *shards, const bool *present, const uint8_t **src,
                    uint8_t **dst) {
  unsigned sources = 0, targets = 0;
  for (unsigned j = 0; j < l->k; j++)
    if (present[j])
      src[sources++] = shards[j];
  for (unsigned n = 0; n < l->helpers; n++)
    src[sources++] = shards[l->k + l->helper[n]];
  for (unsigned n = 0; n < l->lost_data; n++)
    dst[targets++] = shards[l->data[n]];
  for (unsigned n = 0; n < l->lost_parities; n++)
    dst[targets++] = shards[l->k + l->parity[n]];
  /* Not gfs_all_given, whose reads of four pointers gcc takes for reads behind dst. */
  for (unsigned n = 0; n < targets; n++)
    if (dst[n] == NULL)
      return false;
  return gfs_all_given(src, sources);
}

static void compute_powers(powers *p, unsigned k) {
  gfs_field_init(&p->field, GFSMITH_POLYNOMIAL);
  for (unsigned i = 0; i < PARITIES; i++) {
    p->row[i][0] = 1;
    for (unsigned j = 1; j < k; j++)
      p->row[i][j] = gfs_field_mul(&p->field, p->row[i][j - 1], (uint8_t)(1u << i));
  }
}

/* Solve equations of `width` coefficients each for their first `count` unknowns, in place. All
 * leading minors must be regular, so that no pivot is 0. */
static void reduce_system(const gfs_field *field, unsigned count, unsigned width, uint8_t *system) {
  for (unsigned n = 0; n < count; n++) {
    uint8_t *pivot = system + n * width;
    gfs_field_scale(field, pivot, gfs_field_inverse(field, pivot[n]), width);
    for (unsigned other = 0; other < count; other++)
      if (other != n)
        gfs_field_add_multiple(field, system + other * width, pivot, system[other * width + n],
                               width);
  }
}

/* Express the lost data by the sources: with V the parity matrix, S the present and L the lost
 * data,
 *
 *     V[helpers][L] * d[L] = helpers + V[helpers][S] * d[S].
 *
 * The square matrix on the left and its leading minors are regular: up to a factor in each column
 * they are Vandermonde matrices of different powers of 2 (or of 4). `solution`: lost_data rows of
 * k. */
static void solve_data(const loss *l, const powers *p, const bool *present, uint8_t *solution) {
  uint8_t system[PARITIES * (PARITIES + DATA)];
  unsigned width = l->lost_data + l->k;
  memset(system, 0, sizeof system);
  for (unsigned n = 0; n < l->helpers; n++) {
    uint8_t *row = system + n * width;
    const uint8_t *power = p->row[l->helper[n]];
    unsigned column = 0;
    for (; column < l->lost_data; column++)
      row[column] = power[l->data[column]];
    for (unsigned j = 0; j < l->k; j++)
      if (present[j])
        row[column++] = power[j];
    row[column + n] = 1;
  }
  reduce_system(&p->field, l->lost_data, width, system);
  for (unsigned n = 0; n < l->lost_data; n++)
    memcpy(solution + n * l->k, system + n * width + l->lost_data, l->k);
}

/* Express a lost parity by the sources: its powers of the present data, plus its powers of the lost
 * data, which are themselves expressed by the sources. */
static void parity_row(const loss *l, const powers *p, const bool *present, unsigned parity,
                       const uint8_t *solution, uint8_t *row) {
  const uint8_t *power = p->row[parity];
  unsigned column = 0;
  for (unsigned j = 0; j < l->k; j++)
    if (present[j])
      row[column++] = power[j];
  memset(row + column, 0, l->k - column);
  for (unsigned n = 0; n < l->lost_data; n++)
    gfs_field_add_multiple(&p->field, row, solution + n * l->k, power[l->data[n]], l->k);
}

/* Write the kernels' tables for all lost shards: source by source, output by output. */
static void fill_recovery_tables(const loss *l, const bool *present, gfs_format format,
                                 uint8_t *tables) {
  uint8_t matrix[PARITIES * DATA];
  powers p;
  unsigned targets = l->lost_data + l->lost_parities;
  compute_powers(&p, l->k);
  if (l->lost_data > 0)
    solve_data(l, &p, present, matrix);
  for (unsigned n = 0; n < l->lost_parities; n++)
    parity_row(l, &p, present, l->parity[n], matrix, matrix + (l->lost_data + n) * l->k);
  for (unsigned j = 0; j < l->k; j++)
    for (unsigned i = 0; i < targets; i++) {
      gfs_tables_fill(format, &p.field, matrix[i * l->k + j], tables);
      tables += gfs_tables_entry(format);
    }
}

/* Is the lost shard the XOR of its sources: P alone, or one data shard, recovered with P? */
static bool is_plain_sum(const loss *l) {
  if (l->lost_data + l->lost_parities != 1)
    return false;
  return l->lost_data == 1 ? l->helper[0] == 0 : l->parity[0] == 0;
}

/* Are the lost shards exactly the first parities, without data? */
static bool is_generation(const loss *l) {
  return l->lost_data == 0 && l->parity[l->lost_parities - 1] + 1u == l->lost_parities;
}

static gfsmith_status recover(const loss *l, size_t len, const bool *present,
                              const uint8_t *const *src, uint8_t *const *dst) {
  unsigned targets = l->lost_data + l->lost_parities;
  gfs_path path = gfs_path_of(GFSMITH_HINT_AUTO, l->k + targets, len);
  gfs_raid_pass pass;
  if (is_plain_sum(l) || is_generation(l)) {
    gfsmith_status status = gfs_raid_generator(&pass, l->k, targets, path);
    if (status == GFSMITH_OK)
      gfs_raid_run(&pass, path, len, src, dst);
    return status;
  }
  alignas(GFS_CACHE_LINE) uint8_t tables[(size_t)PARITIES * DATA * GFS_ENTRY_MAX];
  const gfs_isa *isa = gfs_dispatch_isa();
  if (isa == NULL)
    return GFSMITH_EUNSUPPORTED;
  gfsmith_kernel *kernel = gfs_raid_dot(isa, targets, path);
  if (kernel == NULL)
    return GFSMITH_EUNSUPPORTED;
  fill_recovery_tables(l, present, isa->format, tables);
  pass = (gfs_raid_pass){kernel, tables, l->k, targets};
  gfs_raid_run(&pass, path, len, src, dst);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_raid_recover(unsigned k, unsigned m, size_t len, uint8_t *const *shards,
                                    const bool *present) {
  if (!gfs_raid_count_valid(k) || m < 1 || m > PARITIES || present == NULL ||
      (len > 0 && shards == NULL))
    return GFSMITH_EINVAL;
  loss l;
  if (!survey(&l, k, m, present))
    return GFSMITH_ETOOMANY;
  if (len == 0 || l.lost_data + l.lost_parities == 0)
    return GFSMITH_OK;
  const uint8_t *src[DATA];
  uint8_t *dst[PARITIES];
  if (!collect(&l, shards, present, src, dst))
    return GFSMITH_EINVAL;
  return recover(&l, len, present, src, dst);
}
