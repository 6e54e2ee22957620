/* gfsmith_linear: matrices over GF(2^4) and GF(2^16), as matrices of linear maps of bytes. */
#include <stdlib.h>

#include "codec.h"
#include "gfsmith_algebra.h"
#include "map.h"
#include "sizes.h"

/* The outputs that one kernel call computes. */
typedef struct linear_pass {
  gfsmith_kernel *dot[GFS_PATHS], *mad[GFS_PATHS];
  const uint8_t *tables;
  unsigned first;
} linear_pass;

struct gfsmith_linear {
  unsigned inputs, outputs; /* byte planes of all sources and of all results */
  unsigned passes;
  linear_pass pass[];
};

/* A matrix, and the width of the elements of its field in bits and in planes. */
typedef struct words {
  unsigned polynomial, width, planes;
  unsigned k;
  const uint16_t *matrix;
} words;

/* The set of a new object, and its number of planes. */
typedef struct choice {
  const gfs_isa *isa;
  unsigned inputs;
} choice;

static bool kernels_exist(const void *of, unsigned outputs) {
  const choice *c = of;
  return gfs_dispatch_kernel(c->isa, GFS_OPERATION_dot, c->inputs, outputs, GFS_PATH_cached) &&
         gfs_dispatch_kernel(c->isa, GFS_OPERATION_mad, c->inputs, outputs, GFS_PATH_cached);
}

/* c x^power */
static unsigned times_power(const words *w, unsigned c, unsigned power) {
  for (; power > 0; power--) {
    c <<= 1;
    if (c >> w->width != 0)
      c ^= w->polynomial;
  }
  return c;
}

/* The map from input plane j to output plane i: column b is the image of bit b. In GF(2^4) bits 4
 * to 7 of a byte are the second of two elements. */
static void columns_of(const words *w, unsigned j, unsigned i, uint8_t *column) {
  unsigned c = w->matrix[(size_t)(i / w->planes) * w->k + j / w->planes];
  for (unsigned b = 0; b < 8; b++) {
    unsigned bit = j % w->planes * 8 + b, within = bit % w->width;
    unsigned image = times_power(w, c, within) << (bit - within);
    column[b] = (uint8_t)(image >> i % w->planes * 8);
  }
}

static void fill_pass(const words *w, const choice *c, linear_pass *pass, unsigned outputs,
                      uint8_t *tables) {
  pass->tables = tables;
  for (gfs_path path = 0; path < GFS_PATHS; path++) {
    pass->dot[path] = gfs_dispatch_kernel(c->isa, GFS_OPERATION_dot, c->inputs, outputs, path);
    pass->mad[path] = gfs_dispatch_kernel(c->isa, GFS_OPERATION_mad, c->inputs, outputs, path);
  }
  for (unsigned j = 0; j < c->inputs; j++)
    for (unsigned i = 0; i < outputs; i++) {
      uint8_t column[8];
      columns_of(w, j, pass->first + i, column);
      gfs_tables_fill_map(c->isa->format, column, tables);
      tables += gfs_tables_entry(c->isa->format);
    }
}

static gfsmith_status create(gfsmith_linear **out, const words *w, const choice *c,
                             unsigned outputs) {
  size_t entry = gfs_tables_entry(c->isa->format);
  size_t header = sizeof(gfsmith_linear) + outputs * sizeof(linear_pass);
  gfsmith_linear *made = malloc(header + (size_t)c->inputs * outputs * entry);
  if (made == NULL)
    return GFSMITH_ENOMEM;
  *made = (gfsmith_linear){.inputs = c->inputs, .outputs = outputs};
  uint8_t *tables = (uint8_t *)made + header;
  for (unsigned first = 0, length; first < outputs; first += length) {
    length = gfs_map_balanced(kernels_exist, c, outputs - first);
    if (length == 0) {
      free(made);
      return GFSMITH_EUNSUPPORTED;
    }
    linear_pass *pass = &made->pass[made->passes++];
    pass->first = first;
    fill_pass(w, c, pass, length, tables);
    tables += (size_t)c->inputs * length * entry;
  }
  *out = made;
  return GFSMITH_OK;
}

gfsmith_status gfsmith_linear_create(gfsmith_linear **out, unsigned polynomial, unsigned k,
                                     unsigned m, const uint16_t *matrix) {
  words w = {.polynomial = polynomial, .k = k, .matrix = matrix};
  w.width = gfs_field_irreducible(polynomial, 4)    ? 4
            : gfs_field_irreducible(polynomial, 16) ? 16
                                                    : 0;
  w.planes = w.width == 16 ? 2 : 1;
  const unsigned most = GFSMITH_MAX_SHARDS / w.planes;
  if (out == NULL || matrix == NULL || w.width == 0 || k == 0 || m == 0 || k > most || m > most - k)
    return GFSMITH_EINVAL;
  for (size_t n = 0; n < (size_t)m * k; n++)
    if (matrix[n] >> w.width != 0)
      return GFSMITH_EINVAL;
  choice c = {gfs_dispatch_isa(), k * w.planes};
  return c.isa == NULL ? GFSMITH_EUNSUPPORTED : create(out, &w, &c, m * w.planes);
}

void gfsmith_linear_destroy(gfsmith_linear *linear) { free(linear); }

/* Run the kernels of dot or of mad piece by piece, so that several passes find the sources in
 * cache. */
static gfsmith_status run_linear(const gfsmith_linear *l, bool add, size_t len,
                                 const uint8_t *const *src, uint8_t *const *dst) {
  if (l == NULL)
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (!gfs_all_given(src, l->inputs) || !gfs_all_given((const uint8_t *const *)dst, l->outputs))
    return GFSMITH_EINVAL;
  gfs_path path = gfs_path_of(GFSMITH_HINT_AUTO, l->inputs + l->outputs, len);
  size_t chunk = l->passes > 1 ? gfs_map_chunk(l->inputs + l->outputs) : len;
  for (size_t done = 0, part; done < len; done += part) {
    part = gfs_least(len - done, chunk);
    const uint8_t *from[GFSMITH_MAX_SHARDS];
    uint8_t *to[GFSMITH_MAX_SHARDS];
    for (unsigned j = 0; j < l->inputs; j++)
      from[j] = src[j] + done;
    for (unsigned i = 0; i < l->outputs; i++)
      to[i] = dst[i] + done;
    for (unsigned n = 0; n < l->passes; n++) {
      const linear_pass *pass = &l->pass[n];
      (add ? pass->mad : pass->dot)[path](part, l->inputs, pass->tables, from, to + pass->first);
    }
  }
  return GFSMITH_OK;
}

gfsmith_status gfsmith_linear_dot(const gfsmith_linear *linear, size_t len,
                                  const uint8_t *const *src, uint8_t *const *dst) {
  return run_linear(linear, false, len, src, dst);
}

gfsmith_status gfsmith_linear_mad(const gfsmith_linear *linear, size_t len,
                                  const uint8_t *const *src, uint8_t *const *dst) {
  return run_linear(linear, true, len, src, dst);
}
