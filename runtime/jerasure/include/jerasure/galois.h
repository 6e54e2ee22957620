/* galois.h: arithmetic in GF(2^w) for w from 1 to 32, and products of regions. */
#ifndef GFS_JERASURE_GALOIS_H
#define GFS_JERASURE_GALOIS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A field as an object of gf-complete; gf_complete.h defines its members. */
typedef struct gf gf_t;

int galois_init_default_field(int w);
int galois_uninit_field(int w);
void galois_change_technique(gf_t *gf, int w);
gf_t *galois_init_field(int w, int mult_type, int region_type, int divide_type, uint64_t prim_poly,
                        int arg1, int arg2);
gf_t *galois_init_composite_field(int w, int region_type, int divide_type, int degree,
                                  gf_t *base_gf);
gf_t *galois_get_field_ptr(int w);

int galois_single_multiply(int a, int b, int w);
int galois_single_divide(int a, int b, int w);
int galois_inverse(int x, int w);

void galois_region_xor(char *src, char *dest, int nbytes);
void galois_w08_region_multiply(char *region, int multby, int nbytes, char *r2, int add);
void galois_w16_region_multiply(char *region, int multby, int nbytes, char *r2, int add);
void galois_w32_region_multiply(char *region, int multby, int nbytes, char *r2, int add);

#ifdef __cplusplus
}
#endif

#endif
