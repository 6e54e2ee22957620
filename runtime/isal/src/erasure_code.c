/* erasure_code.c: ISA-L's erasure_code.h and gf_vect_mul.h, except for the functions in field.c. */
#include "isa-l/erasure_code.h"

#include "apply.h"
#include "inlining.h"
#include "portable.h"
#include "remembered_kernels.h"
#include "short_calls.h"
#include "table_entries.h"

typedef unsigned char byte;

/* Callers pass counts as int; negative counts are treated as 0. */
static size_t count(int n) { return n > 0 ? (size_t)n : 0; }

void gf_vect_mul_init(byte c, byte *gftbl) { gfs_isal_entry(gfs_dispatch_isa(), c, gftbl); }

void gf_vect_mul_init_base(byte c, byte *gftbl) { gfs_isal_products(c, gftbl); }

static void init_tables(const gfs_isa *isa, int k, int rows, const byte *a, byte *gftbls) {
  size_t entries = count(k) * count(rows);
  for (size_t n = 0; n < entries; n++)
    gfs_isal_entry(isa, a[n], gftbls + n * GFS_ISAL_ENTRY);
}

void ec_init_tables(int k, int rows, byte *a, byte *gftbls) {
  init_tables(gfs_dispatch_isa(), k, rows, a, gftbls);
}

void ec_init_tables_base(int k, int rows, byte *a, byte *gftbls) {
  init_tables(NULL, k, rows, a, gftbls);
}

/* Encode with more outputs than a kernel has, part by part. False: some parts are not
 * computed. */
static bool encode_in_parts(int len, int k, int rows, byte *gftbls, byte **data, byte **coding) {
  if (rows <= GFS_ISAL_SHORT_OUTPUTS)
    return false;
  int parts = (rows + GFS_ISAL_SHORT_OUTPUTS - 1) / GFS_ISAL_SHORT_OUTPUTS;
  for (int done = 0, part; done < rows; done += part, parts--) {
    part = (rows - done) / parts;
    byte *entries = gftbls + (size_t)done * count(k) * GFS_ISAL_ENTRY;
    gfsmith_kernel *kernel = gfs_isal_dot(len, k, part, entries);
    if (kernel == NULL)
      return false;
    kernel((size_t)len, (size_t)k, entries, (const uint8_t *const *)data, coding + done);
  }
  return true;
}

static GFS_NOT_INLINED void encode(int len, int k, int rows, byte *gftbls, byte **data,
                                   byte **coding) {
  if (len <= 0)
    return;
  gfsmith_kernel *kernel = gfs_isal_dot(len, k, rows, gftbls);
  if (kernel != NULL) {
    kernel((size_t)len, (size_t)k, gftbls, (const uint8_t *const *)data, coding);
    return;
  }
  if (encode_in_parts(len, k, rows, gftbls, data, coding))
    return;
  gfs_isal_call call = {
      (size_t)len, count(k), count(rows), gftbls, count(k), (const uint8_t *const *)data, coding};
  gfs_isal_apply(&call, GFS_OPERATION_dot);
}

/* Encode with a matrix that an earlier call has met. Not inlined, so that shorter calls save no
 * registers. */
static GFS_NOT_INLINED void encode_met(int len, int k, int rows, byte *gftbls, byte **data,
                                       byte **coding) {
  gfsmith_kernel *kernel = gfs_isal_met_dot(len, k, rows, gftbls);
  if (kernel != NULL)
    kernel((size_t)len, (size_t)k, gftbls, (const uint8_t *const *)data, coding);
  else
    encode(len, k, rows, gftbls, data, coding);
}

void ec_encode_data(int len, int k, int rows, byte *gftbls, byte **data, byte **coding) {
  gfsmith_kernel *kernel = gfs_isal_short_dot(len, k, rows, gftbls);
  if (kernel != NULL)
    kernel((size_t)len, (size_t)k, gftbls, (const uint8_t *const *)data, coding);
  else
    encode_met(len, k, rows, gftbls, data, coding);
}

static GFS_NOT_INLINED void update(int len, int k, int rows, byte *entries, byte **data,
                                   byte **coding) {
  gfs_isal_call call = {
      (size_t)len, 1, count(rows), entries, count(k), (const uint8_t *const *)data, coding};
  gfs_isal_apply(&call, GFS_OPERATION_mad);
}

void ec_encode_data_update(int len, int k, int rows, int vec_i, byte *g_tbls, byte *data,
                           byte **coding) {
  byte *entries = g_tbls + count(vec_i) * GFS_ISAL_ENTRY;
  gfsmith_kernel *kernel = gfs_isal_short_mad(len, k, rows, entries);
  if (kernel != NULL)
    kernel((size_t)len, (size_t)k, entries, (const uint8_t *const *)&data, coding);
  else if (len > 0)
    update(len, k, rows, entries, &data, coding);
}

void gf_vect_dot_prod(int len, int vlen, byte *gftbls, byte **src, byte *dest) {
  ec_encode_data(len, vlen, 1, gftbls, src, &dest);
}

void gf_vect_mad(int len, int vec, int vec_i, byte *gftbls, byte *src, byte *dest) {
  ec_encode_data_update(len, vec, 1, vec_i, gftbls, src, &dest);
}

int gf_vect_mul(int len, byte *gftbl, void *src, void *dest) {
  if (len % 32 != 0)
    return 1;
  if (len <= 0)
    return 0;
  const uint8_t *from = src;
  uint8_t *to = dest;
  size_t bytes = (size_t)len;
  const gfs_isa *isa = gfs_dispatch_isa();
  gfs_path path = gfs_path_of(GFSMITH_HINT_AUTO, 2, bytes);
  gfsmith_kernel *kernel = isa != NULL ? gfs_isal_kernel(isa, GFS_OPERATION_mul, 1, 1, path) : NULL;
  if (kernel == NULL) {
    gfs_isal_plain(bytes, 1, gftbl, &from, to, 0);
    return 0;
  }
  uint8_t table[GFS_ISAL_ENTRY];
  gfs_isal_gather(isa->format, gftbl, 1, 1, 1, table);
  kernel(bytes, 1, table, &from, &to);
  return 0;
}

void ec_encode_data_base(int len, int srcs, int dests, byte *v, byte **src, byte **dest) {
  for (size_t i = 0; i < count(dests); i++)
    gf_vect_dot_prod_base(len, srcs, v + i * count(srcs) * GFS_ISAL_ENTRY, src, dest[i]);
}

void ec_encode_data_update_base(int len, int k, int rows, int vec_i, byte *v, byte *data,
                                byte **dest) {
  for (size_t i = 0; i < count(rows); i++)
    gf_vect_mad_base(len, k, vec_i, v + i * count(k) * GFS_ISAL_ENTRY, data, dest[i]);
}

void gf_vect_dot_prod_base(int len, int vlen, byte *gftbls, byte **src, byte *dest) {
  gfs_isal_plain(count(len), count(vlen), gftbls, (const uint8_t *const *)src, dest, 0);
}

void gf_vect_mad_base(int len, int vec, int vec_i, byte *v, byte *src, byte *dest) {
  (void)vec;
  const uint8_t *const from[] = {src};
  gfs_isal_plain(count(len), 1, v + count(vec_i) * GFS_ISAL_ENTRY, from, dest, 1);
}

int gf_vect_mul_base(int len, byte *gftbl, byte *src, byte *dest) {
  if (len % 32 != 0)
    return -1;
  gf_vect_dot_prod_base(len, 1, gftbl, &src, dest);
  return 0;
}
