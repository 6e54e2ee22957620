/* Local reconstruction codes. generator/gfsmith/codes/lrc.py has the same matrices and proves which
 * losses they repair. */
#include <string.h>

#include "field.h"
#include "gfsmith.h"

/* GF(256) is a union of SPREAD subspaces of 16 elements with only 0 in common: 2^g * GF(16). */
enum { SPREAD = 17, SPREAD_POINTS = 15 };

/* The most elements that l + r rows of k can have: (l + r) * k with l + r + k = 255. */
enum { ELEMENTS_MAX = (GFSMITH_MAX_SHARDS / 2) * (GFSMITH_MAX_SHARDS / 2 + 1) };

typedef struct shape {
  unsigned k, l, r;
} shape;

static bool valid(const shape *s) {
  return s->k >= 1 && s->k < GFSMITH_MAX_SHARDS && s->l >= 1 && s->l <= s->k && s->r >= 1 &&
         s->r < GFSMITH_MAX_SHARDS && s->k + s->l + s->r <= GFSMITH_MAX_SHARDS;
}

/* The first data shard of a group: the first k mod l groups have one more than the others. */
static unsigned start_of(const shape *s, unsigned group) {
  unsigned larger = s->k % s->l;
  return group * (s->k / s->l) + (group < larger ? group : larger);
}

/* Are the global rows the powers p^(2^t) of points p? */
static bool has_points(const shape *s) {
  unsigned largest = start_of(s, 1);
  return s->r == 1 || (s->r == 2 && s->l <= SPREAD && largest <= SPREAD_POINTS);
}

/* The element of global row t at the i-th data shard of a group. 2 generates the field. */
static uint8_t power_element(const gfs_field *field, const shape *s, unsigned t, unsigned group,
                             unsigned i) {
  unsigned exponent = s->r == 1 ? i : group + SPREAD * i;
  return field->exp[field->log[2] * (exponent << t) % 255];
}

/* Row t + 1 of the Cauchy matrix 1 / (t + x), x = r + 1 + j, with its columns scaled so that row 0
 * is all ones; row 0 is split into the local parities. */
static uint8_t pyramid_element(const gfs_field *field, const shape *s, unsigned t, unsigned j) {
  uint8_t x = (uint8_t)(s->r + 1 + j);
  return gfs_field_mul(field, x, gfs_field_inverse(field, (uint8_t)(x ^ (t + 1))));
}

static void write_group(const gfs_field *field, const shape *s, unsigned group, uint8_t *matrix) {
  unsigned start = start_of(s, group), end = start_of(s, group + 1);
  bool points = has_points(s);
  memset(matrix + (size_t)group * s->k + start, 1, end - start);
  for (unsigned t = 0; t < s->r; t++)
    for (unsigned j = start; j < end; j++)
      matrix[(size_t)(s->l + t) * s->k + j] =
          points ? power_element(field, s, t, group, j - start) : pyramid_element(field, s, t, j);
}

gfsmith_status gfsmith_codec_create_lrc(gfsmith_codec **out, unsigned k, unsigned l, unsigned r) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  shape s = {.k = k, .l = l, .r = r};
  if (!valid(&s))
    return GFSMITH_EINVAL;
  gfs_field field;
  gfs_field_init(&field, GFSMITH_POLYNOMIAL);
  uint8_t matrix[ELEMENTS_MAX] = {0};
  for (unsigned group = 0; group < l; group++)
    write_group(&field, &s, group, matrix);
  return gfsmith_codec_create_matrix(out, GFSMITH_POLYNOMIAL, k, l + r, matrix);
}
