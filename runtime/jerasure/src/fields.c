#include "fields.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "fail.h"
#include "regions.h"

static void multiply_region(gf_t *field, void *src, void *dest, uint32_t by, int bytes, int add) {
  gfs_jerasure_multiply_region(field, by, src, dest, (size_t)bytes, add != 0);
}

/* The low bits of the default polynomials of gf-complete, primitive ones with few terms. */
static gfs_jerasure_modulus modulus[GFS_JERASURE_WIDEST + 1] = {
    {0, 0},      {1, 0x0},  {2, 0x3},       {3, 0x3},   {4, 0x3},      {5, 0x5},   {6, 0x3},
    {7, 0x9},    {8, 0x1d}, {9, 0x11},      {10, 0x9},  {11, 0x5},     {12, 0x53}, {13, 0x1b},
    {14, 0x443}, {15, 0x3}, {16, 0x100b},   {17, 0x9},  {18, 0x81},    {19, 0x27}, {20, 0x9},
    {21, 0x5},   {22, 0x3}, {23, 0x21},     {24, 0x87}, {25, 0x9},     {26, 0x47}, {27, 0x27},
    {28, 0x9},   {29, 0x5}, {30, 0x800007}, {31, 0x9},  {32, 0x400007}};

#define FIELD(w)                                                                                   \
  {gfs_jerasure_multiply, gfs_jerasure_divide,       gfs_jerasure_inverse,                         \
   multiply_region,       gfs_jerasure_extract_word, &modulus[w]}
#define FIELDS(w) FIELD(w), FIELD(w + 1), FIELD(w + 2), FIELD(w + 3)
static gf_t defaults[GFS_JERASURE_WIDEST + 1] = {FIELD(0),   FIELDS(1),  FIELDS(5),
                                                 FIELDS(9),  FIELDS(13), FIELDS(17),
                                                 FIELDS(21), FIELDS(25), FIELDS(29)};

/* NULL: not used yet. */
static gf_t *_Atomic current[GFS_JERASURE_WIDEST + 1];

static bool is_width(int w) { return w >= 1 && w <= GFS_JERASURE_WIDEST; }

gf_t *gfs_jerasure_field(int w) {
  if (!is_width(w))
    gfs_jerasure_fail("galois", "w must be 1 to 32");
  gf_t *field = atomic_load_explicit(&current[w], memory_order_acquire);
  if (field != NULL)
    return field;
  galois_init_default_field(w);
  return &defaults[w];
}

int galois_init_default_field(int w) {
  if (!is_width(w))
    return EINVAL;
  gf_t *none = NULL;
  atomic_compare_exchange_strong(&current[w], &none, &defaults[w]);
  return 0;
}

int galois_uninit_field(int w) {
  if (is_width(w))
    atomic_store(&current[w], NULL);
  return 0;
}

void galois_change_technique(gf_t *gf, int w) {
  if (!is_width(w) || gf == NULL)
    gfs_jerasure_fail("galois_change_technique", "w must be 1 to 32, and gf not NULL");
  atomic_store(&current[w], gf);
}

gf_t *galois_get_field_ptr(int w) { return is_width(w) ? atomic_load(&current[w]) : NULL; }

/* gf-complete's names for kinds of fields whose words or regions have another form. */
enum { KIND_COMPOSITE = 12, LAYOUT_ALTMAP = 0x20, LAYOUT_CAUCHY = 0x40 };

gf_t *galois_init_field(int w, int mult_type, int region_type, int divide_type, uint64_t prim_poly,
                        int arg1, int arg2) {
  (void)divide_type, (void)arg1, (void)arg2;
  if (!is_width(w) || mult_type < 0 || mult_type >= KIND_COMPOSITE ||
      (region_type & (LAYOUT_ALTMAP | LAYOUT_CAUCHY)) != 0)
    gfs_jerasure_fail("galois_init_field", "w must be 1 to 32, the type below GF_MULT_COMPOSITE, "
                                           "the region without ALTMAP and CAUCHY");
  struct made {
    gf_t field;
    gfs_jerasure_modulus modulus;
  } *made = malloc(sizeof *made);
  if (made == NULL)
    gfs_jerasure_fail("galois_init_field", "no memory");
  made->field = defaults[w];
  made->modulus = modulus[w];
  if (prim_poly != 0)
    made->modulus.low = (uint32_t)prim_poly & gfs_jerasure_mask((unsigned)w);
  made->field.scratch = &made->modulus;
  return &made->field;
}

gf_t *galois_init_composite_field(int w, int region_type, int divide_type, int degree,
                                  gf_t *base_gf) {
  (void)w, (void)region_type, (void)divide_type, (void)degree, (void)base_gf;
  gfs_jerasure_fail("galois_init_composite_field",
                    "composite fields must be made by gf_init_hard of gf-complete");
}
