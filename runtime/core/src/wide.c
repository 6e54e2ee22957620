#include "wide.h"

#include <stdlib.h>
#include <string.h>

#include "locator.h"

#define WIDE_QUOTED(number) #number
#define WIDE_TEXT(number) WIDE_QUOTED(number)
#define WIDE_SHAPES(few, many, points)                                                             \
  "k >= 1, m >= 1, k + m <= " WIDE_TEXT(                                                           \
      GFSMITH_WIDE_MAX_SHARDS) ", and the least power of two >= " few ", plus " many               \
                               ", at most " points

static const gfs_wide_code wide_codes[] = {
    {"leopard8", 8, 0x11d, GFSMITH_WIDE_GRANULE, GFS_WIDE_BYTES, false,
     WIDE_SHAPES("m", "k", "256")},
    {"leopard16", 16, 0x1002d, GFSMITH_WIDE_GRANULE, GFS_WIDE_HALVES, false,
     WIDE_SHAPES("m", "k", "65536")},
    {"reed_solomon_simd", 16, 0x1002d, 2, GFS_WIDE_HALVES, true,
     WIDE_SHAPES("min(k, m)", "max(k, m)", "65536")},
    {"lch16", 16, 0x1002d, 2, GFS_WIDE_WORDS, true, WIDE_SHAPES("min(k, m)", "max(k, m)", "65536")},
};

/* NULL for NULL, too. */
static const gfs_wide_code *find_code(const char *name) {
  if (name == NULL)
    return NULL;
  for (size_t n = 0; n < sizeof wide_codes / sizeof wide_codes[0]; n++)
    if (strcmp(wide_codes[n].name, name) == 0)
      return &wide_codes[n];
  return NULL;
}

size_t gfsmith_wide_granule(const char *code) {
  const gfs_wide_code *c = find_code(code);
  return c != NULL ? c->granule : 0;
}

const char *gfsmith_wide_shapes(const char *code) {
  const gfs_wide_code *c = find_code(code);
  return c != NULL ? c->shapes : NULL;
}

/* Choose the points of the shards. If the block of data and that of parities have the same size,
 * both orders give the same code: the addition of an element exchanges the blocks, and it keeps the
 * differences of points. */
static void arrange(gfsmith_wide *wide) {
  unsigned data = gfs_wide_power_of_two(wide->k), parity = gfs_wide_power_of_two(wide->m);
  wide->data_first = wide->code->may_swap && data < parity;
  wide->block = wide->data_first ? data : parity;
  wide->points = gfs_wide_power_of_two(wide->block + gfs_wide_shards_behind(wide));
}

static gfsmith_status create_tables(gfsmith_wide *wide) {
  const gfs_wide_code *c = wide->code;
  gfsmith_status status = gfs_cantor_create(&wide->field, c->width, c->polynomial);
  if (status == GFSMITH_OK)
    status = gfs_transform_create(&wide->transform, &wide->field, c->width / 8, wide->points);
  if (status == GFSMITH_OK)
    status = gfs_products_create(&wide->to_rows, &wide->transform, &wide->field, GFS_BASIS_SHARD,
                                 GFS_BASIS_ROW);
  if (status == GFSMITH_OK)
    status = gfs_products_create(&wide->to_shards, &wide->transform, &wide->field, GFS_BASIS_ROW,
                                 GFS_BASIS_SHARD);
  if (status != GFSMITH_OK)
    return status;
  wide->spectra = malloc(2 * sizeof(uint32_t) * wide->points);
  if (wide->spectra == NULL)
    return GFSMITH_ENOMEM;
  gfs_locator_prepare(&wide->field, wide->points, wide->spectra);
  return GFSMITH_OK;
}

bool gfsmith_wide_has_shape(const char *code, unsigned k, unsigned m) {
  const gfs_wide_code *c = find_code(code);
  if (c == NULL || k == 0 || m == 0 || k > GFSMITH_WIDE_MAX_SHARDS ||
      m > GFSMITH_WIDE_MAX_SHARDS - k)
    return false;
  gfsmith_wide shape = {.code = c, .k = k, .m = m};
  arrange(&shape);
  return shape.points <= 1u << c->width;
}

gfsmith_status gfsmith_wide_create(gfsmith_wide **out, const char *name, unsigned k, unsigned m) {
  if (out == NULL || !gfsmith_wide_has_shape(name, k, m))
    return GFSMITH_EINVAL;
  gfsmith_wide *made = calloc(1, sizeof *made);
  if (made == NULL)
    return GFSMITH_ENOMEM;
  made->code = find_code(name);
  made->k = k;
  made->m = m;
  arrange(made);
  gfsmith_status status = create_tables(made);
  if (status != GFSMITH_OK) {
    gfsmith_wide_destroy(made);
    return status;
  }
  *out = made;
  return GFSMITH_OK;
}

void gfsmith_wide_destroy(gfsmith_wide *wide) {
  if (wide == NULL)
    return;
  gfs_products_destroy(&wide->to_shards);
  gfs_products_destroy(&wide->to_rows);
  gfs_transform_destroy(&wide->transform);
  free(wide->spectra);
  gfs_cantor_destroy(&wide->field);
  free(wide);
}
