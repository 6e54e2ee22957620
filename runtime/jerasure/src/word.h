/* word.h: arithmetic in GF(2^w), w from 1 to 32, word by word. */
#ifndef GFS_JERASURE_WORD_H
#define GFS_JERASURE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "jerasure/galois.h"

enum { GFS_JERASURE_WIDEST = 32 };

/* The layout of gf-complete's gf_t for w <= 32: a program may install such an object, and receives
 * one. */
struct gf {
  uint32_t (*multiply)(gf_t *gf, uint32_t a, uint32_t b);
  uint32_t (*divide)(gf_t *gf, uint32_t a, uint32_t b);
  uint32_t (*inverse)(gf_t *gf, uint32_t a);
  void (*multiply_region)(gf_t *gf, void *src, void *dest, uint32_t by, int bytes, int add);
  uint32_t (*extract_word)(gf_t *gf, void *start, int bytes, int index);
  void *scratch; /* of the fields of this library: a gfs_jerasure_modulus */
};

/* A field of this library: its polynomial is x^width + the bits of `low`. */
typedef struct gfs_jerasure_modulus {
  unsigned width;
  uint32_t low;
} gfs_jerasure_modulus;

/* The lowest `width` bits. */
uint32_t gfs_jerasure_mask(unsigned width);

/* The functions of a field of this library, on the lowest bits of their arguments. */
uint32_t gfs_jerasure_multiply(gf_t *field, uint32_t a, uint32_t b);
uint32_t gfs_jerasure_divide(gf_t *field, uint32_t a, uint32_t b);
uint32_t gfs_jerasure_inverse(gf_t *field, uint32_t a);
uint32_t gfs_jerasure_extract_word(gf_t *field, void *start, int bytes, int index);

/* The modulus of a field of this library; NULL: a program's own. */
const gfs_jerasure_modulus *gfs_jerasure_modulus_of(const gf_t *field);

/* Does the field have this element? A negative int is one with 32 bits. */
static inline bool gfs_jerasure_has(int w, int element) {
  return w >= GFS_JERASURE_WIDEST || (uint32_t)element >> w == 0;
}

#endif
