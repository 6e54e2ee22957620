/* galois_*: words and regions of the fields in use. */
#include "jerasure/galois.h"
#include "fail.h"
#include "fields.h"
#include "jerasure/reed_sol.h"
#include "regions.h"

int galois_single_multiply(int a, int b, int w) {
  if (a == 0 || b == 0)
    return 0;
  gf_t *field = gfs_jerasure_field(w);
  return (int)field->multiply(field, (uint32_t)a, (uint32_t)b);
}

int galois_single_divide(int a, int b, int w) {
  if (a == 0)
    return 0;
  if (b == 0)
    return -1;
  gf_t *field = gfs_jerasure_field(w);
  return (int)field->divide(field, (uint32_t)a, (uint32_t)b);
}

int galois_inverse(int x, int w) { return x == 0 ? -1 : galois_single_divide(1, x, w); }

void galois_region_xor(char *src, char *dest, int nbytes) {
  if (nbytes < 0)
    gfs_jerasure_fail("galois_region_xor", "nbytes must not be negative");
  gfs_jerasure_add((size_t)nbytes, (const uint8_t *)src, (uint8_t *)dest);
}

static void multiply_region(const char *function, int w, char *region, int multby, int nbytes,
                            char *r2, int add) {
  if (nbytes < 0 || nbytes % (w / 8) != 0 || !gfs_jerasure_has(w, multby))
    gfs_jerasure_fail(function, "nbytes must be a multiple of w / 8, multby an element of GF(2^w)");
  gf_t *field = gfs_jerasure_field(w);
  uint8_t *from = (uint8_t *)region, *to = r2 == NULL ? from : (uint8_t *)r2;
  const bool adds = r2 != NULL && add != 0;
  if (gfs_jerasure_modulus_of(field) != NULL)
    gfs_jerasure_multiply_region(field, (uint32_t)multby, from, to, (size_t)nbytes, adds);
  else
    field->multiply_region(field, from, to, (uint32_t)multby, nbytes, adds);
}

void galois_w08_region_multiply(char *region, int multby, int nbytes, char *r2, int add) {
  multiply_region(__func__, 8, region, multby, nbytes, r2, add);
}

void galois_w16_region_multiply(char *region, int multby, int nbytes, char *r2, int add) {
  multiply_region(__func__, 16, region, multby, nbytes, r2, add);
}

void galois_w32_region_multiply(char *region, int multby, int nbytes, char *r2, int add) {
  multiply_region(__func__, 32, region, multby, nbytes, r2, add);
}

void reed_sol_galois_w08_region_multby_2(char *region, int nbytes) {
  multiply_region(__func__, 8, region, 2, nbytes, NULL, 0);
}

void reed_sol_galois_w16_region_multby_2(char *region, int nbytes) {
  multiply_region(__func__, 16, region, 2, nbytes, NULL, 0);
}

void reed_sol_galois_w32_region_multby_2(char *region, int nbytes) {
  multiply_region(__func__, 32, region, 2, nbytes, NULL, 0);
}

/* Jerasure's library exports these without a declaration. */
void galois_w8_region_xor(void *src, void *dest, int nbytes);
void galois_w16_region_xor(void *src, void *dest, int nbytes);
void galois_w32_region_xor(void *src, void *dest, int nbytes);

void galois_w8_region_xor(void *src, void *dest, int nbytes) {
  galois_region_xor(src, dest, nbytes);
}

void galois_w16_region_xor(void *src, void *dest, int nbytes) {
  galois_region_xor(src, dest, nbytes);
}

void galois_w32_region_xor(void *src, void *dest, int nbytes) {
  galois_region_xor(src, dest, nbytes);
}
