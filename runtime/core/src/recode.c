#include "recode.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "grs.h"
#include "sizes.h"

/* Bytes of stack for zeros, syndromes and results that are no targets. */
#define SCRATCH_BYTES ((size_t)48 << 10)

/* The shortest shard for which it pays to set up the pointers of all steps. */
#define LENGTH_MIN ((size_t)256)

enum { NOWHERE = GFSMITH_MAX_SHARDS /* in from: not read; in to: no target */ };

/* Immutable. */
struct gfs_recode {
  gfs_map *encoder;
  gfs_map *direct; /* the lost data from the read shards; NULL: none are lost, or by syndromes */
  size_t bytes;
  size_t entry; /* bytes of a table entry */
  size_t chunk; /* bytes of every shard at a time */
  gfsmith_kernel *scale;
  gfsmith_kernel *add;
  unsigned k, m;
  unsigned lost;                        /* data that are not read: the first targets */
  bool syndromes;                       /* they are computed from syndromes */
  bool parities;                        /* some targets are parities */
  uint8_t from[GFSMITH_MAX_SHARDS];     /* shard -> its position among the read shards */
  uint8_t to[GFSMITH_MAX_SHARDS];       /* shard -> its position among the targets */
  uint8_t syndrome[GFSMITH_MAX_SHARDS]; /* the read parities, by number from 0 on */
  uint8_t tables[]; /* with syndromes: their factors, then those of the lost data */
};

/* The cost of an encoding in products for a byte of a shard. A repair counts as faster than the
 * dense one if its cost is less than four fifths of that. Measured on Zen 4, GFNI AVX-512, for 64
 * bytes of each shard: 290 ns for a dense product of 1,024, 70 ns for an encoding at 32+32. */
static unsigned encoding_cost(const gfs_equations *code) {
  unsigned levels = 0;
  while (1u << levels < code->m)
    levels++;
  return (code->k + code->m) * levels * 4 / 5;
}

static bool pays(unsigned cost, unsigned dense) { return 5 * cost < 4 * dense; }

/* The product of the differences of a shard's point and those of the shards in a list, without
 * itself. */
static uint8_t differences(const gfs_grs *grs, unsigned shard, const gfs_shards *list) {
  uint8_t product = 1;
  for (unsigned n = 0; n < list->count; n++)
    if (list->shard[n] != shard)
      product = gfs_field_mul(grs->field, product, grs->point[shard] ^ grs->point[list->shard[n]]);
  return product;
}

/* The shards that are parities, and those that are not read. */
typedef struct repair_sets {
  gfs_shards parity;
  gfs_shards unread;
} repair_sets;

/* The factor of a read parity's syndrome, and the reciprocal of the factor of a lost data shard.
 *
 * z are the points and g the factors of the equations (grs.h), Y and U the products of x + z over
 * the parities and over the unread shards. P[i][j] = r_i c_j / (z_i + z_j) with r_i = 1 / (g_i
 * Y'(z_i)) and c_j = g_j Y(z_j). The syndrome of parity i is r_i Q(z_i) / U(z_i) with a polynomial
 * Q of a degree below m that is 0 at the unread parities, and lost data shard j is Q(z_j) / (c_j
 * U'(z_j)). By Lagrange's formula over the parities
 *
 *     lost[j] = 1 / (g_j^2 Y(z_j) U'(z_j)) * sum over i of P[i][j] g_i^2 Y'(z_i) U(z_i) syndrome[i]
 */
static uint8_t factor_of(const gfs_grs *grs, const repair_sets *s, unsigned shard) {
  const gfs_field *field = grs->field;
  uint8_t square = gfs_field_mul(field, grs->factor[shard], grs->factor[shard]);
  return gfs_field_mul(field, gfs_field_mul(field, square, differences(grs, shard, &s->parity)),
                       differences(grs, shard, &s->unread));
}

static bool symmetric(const gfs_equations *code) {
  for (size_t i = 0; i < code->m; i++)
    for (size_t j = 0; j < i; j++)
      if (code->matrix[i * code->k + j] != code->matrix[j * code->k + i])
        return false;
  return code->k == code->m;
}

/* Do kernels for known matrices compute some, or all, outputs of a map? */
static unsigned known_passes(const gfs_map *map) {
  unsigned known = 0;
  for (unsigned n = 0; n < map->dots; n++)
    known += map->pass[n].known != NULL;
  return known;
}

static void number_shards(const gfs_shards *list, uint8_t *positions) {
  memset(positions, NOWHERE, GFSMITH_MAX_SHARDS);
  for (unsigned n = 0; n < list->count; n++)
    positions[list->shard[n]] = (uint8_t)n;
}

/* Write the read parities, and the tables. */
static void fill_factors(gfs_recode *r, gfs_format format, const gfs_grs *grs) {
  repair_sets s = {.parity.count = 0, .unread.count = 0};
  for (unsigned shard = 0; shard < r->k + r->m; shard++) {
    if (shard >= r->k)
      gfs_shards_append(&s.parity, shard);
    if (r->from[shard] == NOWHERE)
      gfs_shards_append(&s.unread, shard);
  }
  unsigned syndromes = 0;
  for (unsigned n = 0; n < r->m; n++)
    if (r->from[r->k + n] != NOWHERE) {
      gfs_tables_fill(format, grs->field, factor_of(grs, &s, r->k + n),
                      r->tables + syndromes * r->entry);
      r->syndrome[syndromes++] = (uint8_t)n;
    }
  for (unsigned n = 0; n < r->lost; n++)
    gfs_tables_fill(format, grs->field,
                    gfs_field_inverse(grs->field, factor_of(grs, &s, s.unread.shard[n])),
                    r->tables + (r->lost + n) * r->entry);
}

/* The cost of the lost data by syndromes; 24 of 32 by them gain nothing on Zen 4. */
static unsigned syndromes_cost(const gfs_recode *r, const gfs_equations *code) {
  return 2 * encoding_cost(code) + 5 * r->lost;
}

/* Set up the computation of the lost data by syndromes if it is possible and cheaper than a dense
 * product. */
static bool by_syndromes(gfs_recode *r, const gfs_isa *isa, const gfs_equations *code) {
  gfs_grs grs;
  r->scale = gfs_dispatch_kernel(isa, GFS_OPERATION_mul, r->k, 1, GFS_PATH_cached);
  r->add = gfs_dispatch_kernel(isa, GFS_OPERATION_mad, 1, 1, GFS_PATH_cached);
  if (syndromes_cost(r, code) >= r->lost * r->k || r->scale == NULL || r->add == NULL || r->m < 2 ||
      !symmetric(code) || !gfs_grs_find(&grs, code))
    return false;
  fill_factors(r, isa->format, &grs);
  return true;
}

/* The number of shards in the scratch memory. */
static unsigned spares(const gfs_recode *r, const gfs_shards *target) {
  return r->syndromes ? 1 + r->m + r->k - r->lost : r->m + r->lost - target->count;
}

/* Create the maps and choose the chunk. */
static gfsmith_status complete(gfs_recode *r, const gfs_dense_repair *dense) {
  const gfs_equations *code = dense->code;
  gfsmith_status status =
      gfs_map_create(&r->encoder, dense->isa, code->field, r->k, r->m, code->matrix);
  if (status == GFSMITH_OK && r->lost > 0 && !r->syndromes)
    status = gfs_map_create(&r->direct, dense->isa, code->field, r->k, r->lost, dense->matrix);
  if (status != GFSMITH_OK)
    return status;
  r->bytes += r->encoder->bytes + (r->direct != NULL ? r->direct->bytes : 0);
  unsigned needed = spares(r, dense->target);
  size_t fits = needed > 0 ? SCRATCH_BYTES / needed / GFS_CACHE_LINE * GFS_CACHE_LINE : SIZE_MAX;
  r->chunk = gfs_least(gfs_map_chunk(r->k + r->m), fits);
  return GFSMITH_OK;
}

/* The number of shards of a list that are parities. */
static unsigned parities_of(const gfs_shards *list, unsigned k) {
  unsigned parities = 0;
  for (unsigned n = 0; n < list->count; n++)
    parities += list->shard[n] >= k;
  return parities;
}

/* Write the members that depend on the shards only. */
static void describe(gfs_recode *r, const gfs_dense_repair *dense) {
  r->k = dense->code->k;
  r->m = dense->code->m;
  r->lost = parities_of(dense->read, r->k);
  r->parities = parities_of(dense->target, r->k) > 0;
  r->entry = gfs_tables_entry(dense->isa->format);
  r->bytes = sizeof *r + 2 * (size_t)r->lost * r->entry;
  number_shards(dense->read, r->from);
  number_shards(dense->target, r->to);
}

gfsmith_status gfs_recode_create(gfs_recode **out, const gfs_dense_repair *dense) {
  const gfs_equations *code = dense->code;
  gfs_recode form = {.encoder = NULL};
  describe(&form, dense);
  unsigned all = dense->target->count * form.k;
  unsigned encoding = form.parities ? encoding_cost(code) : 0;
  *out = NULL;
  /* Each read parity replaces a lost data shard. */
  if (dense->read->count != form.k ||
      dense->target->count - parities_of(dense->target, form.k) != form.lost ||
      known_passes(dense->encoder) < dense->encoder->dots || known_passes(dense->map) > 0 ||
      !pays(encoding, all))
    return GFSMITH_OK;
  gfs_recode *r = malloc(form.bytes);
  if (r == NULL)
    return GFSMITH_ENOMEM;
  *r = form;
  r->syndromes = by_syndromes(r, dense->isa, code);
  unsigned data = r->syndromes ? syndromes_cost(r, code) : r->lost * r->k;
  gfsmith_status status = GFSMITH_OK;
  if (pays(data + encoding, all))
    status = complete(r, dense);
  if (status != GFSMITH_OK || r->encoder == NULL)
    gfs_recode_destroy(r);
  else
    *out = r;
  return status;
}

size_t gfs_recode_bytes(const gfs_recode *recode) { return recode != NULL ? recode->bytes : 0; }

bool gfs_recode_pays(const gfs_recode *recode, gfsmith_hint hint, unsigned shards, size_t len) {
  return recode != NULL && len >= LENGTH_MIN && gfs_path_is_cached(gfs_path_of(hint, shards, len));
}

void gfs_recode_destroy(gfs_recode *recode) {
  if (recode == NULL)
    return;
  gfs_map_destroy(recode->encoder);
  gfs_map_destroy(recode->direct);
  free(recode);
}

/* The addresses of one chunk. */
typedef struct chunk_places {
  const uint8_t *src[GFSMITH_MAX_SHARDS]; /* the read shards */
  uint8_t *dst[GFSMITH_MAX_SHARDS];       /* the targets */
  uint8_t *data[GFSMITH_MAX_SHARDS];      /* a lost data shard, otherwise scratch memory or NULL */
  uint8_t *spare[GFSMITH_MAX_SHARDS];     /* by parity: scratch memory; NULL: not needed */
  const uint8_t *zero;
} chunk_places;

/* Write the syndromes, multiplied by their factors, to the scratch memory. */
static void find_syndromes(const gfs_recode *r, size_t len, const chunk_places *p) {
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  uint8_t *own[GFSMITH_MAX_SHARDS];
  for (unsigned j = 0; j < r->k; j++)
    data[j] = r->from[j] != NOWHERE ? p->src[r->from[j]] : p->zero;
  for (unsigned n = 0; n < r->lost; n++)
    own[n] = p->spare[r->syndrome[n]];
  gfs_map_apply_pieces(r->encoder, GFS_PATH_cached, len, data, p->spare);
  r->scale(len, r->lost, r->tables, (const uint8_t *const *)own, own);
  for (unsigned n = 0; n < r->lost; n++)
    r->add(len, 1, r->tables + n * r->entry, &p->src[r->from[r->k + r->syndrome[n]]], &own[n]);
}

/* Compute the lost data from the syndromes. */
static void solve(const gfs_recode *r, size_t len, const chunk_places *p) {
  const uint8_t *from[GFSMITH_MAX_SHARDS];
  for (unsigned i = 0; i < r->m; i++)
    from[i] = p->zero;
  for (unsigned n = 0; n < r->lost; n++)
    from[r->syndrome[n]] = p->spare[r->syndrome[n]];
  gfs_map_apply_pieces(r->encoder, GFS_PATH_cached, len, from, p->data);
  r->scale(len, r->lost, r->tables + r->lost * r->entry, (const uint8_t *const *)p->dst, p->dst);
}

static void find_parities(const gfs_recode *r, size_t len, const chunk_places *p) {
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  uint8_t *parity[GFSMITH_MAX_SHARDS];
  for (unsigned j = 0; j < r->k; j++)
    data[j] = r->from[j] != NOWHERE ? p->src[r->from[j]] : p->data[j];
  for (unsigned i = 0; i < r->m; i++)
    parity[i] = r->to[r->k + i] != NOWHERE ? p->dst[r->to[r->k + i]] : p->spare[i];
  gfs_map_apply_pieces(r->encoder, GFS_PATH_cached, len, data, parity);
}

/* Write the addresses of the chunk that begins at byte `start`. */
static void write_places(const gfs_recode *r, size_t start, const uint8_t *const *src,
                         uint8_t *const *dst, uint8_t *scratch, chunk_places *p) {
  for (unsigned n = 0; n < r->k; n++)
    p->src[n] = src[n] + start;
  for (unsigned shard = 0; shard < r->k + r->m; shard++) {
    uint8_t *target = NULL;
    if (r->to[shard] != NOWHERE)
      target = p->dst[r->to[shard]] = dst[r->to[shard]] + start;
    uint8_t **own = shard < r->k ? &p->data[shard] : &p->spare[shard - r->k];
    *own = target;
    /* Syndromes are computed before the targets are written, and results for all shards. */
    if (r->syndromes ? shard >= r->k || target == NULL : shard >= r->k && target == NULL) {
      *own = scratch;
      scratch += r->chunk;
    }
  }
}

void gfs_recode_apply(const gfs_recode *r, size_t len, const uint8_t *const *src,
                      uint8_t *const *dst) {
  alignas(GFS_CACHE_LINE) uint8_t scratch[SCRATCH_BYTES];
  chunk_places p = {.zero = scratch};
  if (r->syndromes)
    memset(scratch, 0, r->chunk);
  size_t part;
  for (size_t done = 0; done < len; done += part) {
    part = gfs_least(len - done, r->chunk);
    write_places(r, done, src, dst, r->syndromes ? scratch + r->chunk : scratch, &p);
    if (r->syndromes) {
      find_syndromes(r, part, &p);
      solve(r, part, &p);
    } else if (r->direct != NULL) {
      gfs_map_apply(r->direct, GFSMITH_HINT_CACHED, part, p.src, p.dst);
    }
    if (r->parities)
      find_parities(r, part, &p);
  }
}
