/* erasure_code.h: maps over GF(2^8) modulo 0x11d from vectors to vectors, as ISA-L declares them.
 *
 * gfsmith's drop-in for ISA-L's erasure-code and RAID interface (docs/isal.md). A client compiled
 * against ISA-L's own header may be linked with it just as well.
 *
 * The coefficient of source j in output i is given as the 32 bytes at 32 * (i * k + j) of a table
 * (gf_vect_mul.h describes them); rows may be created and used one at a time. Any len from 0 on,
 * any alignment, any number of sources and outputs. The functions do nothing for len <= 0. */
#ifndef _ERASURE_CODE_H_
#define _ERASURE_CODE_H_

#include "gf_vect_mul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write the tables of a matrix of `rows` rows of k coefficients: 32 * k * rows bytes. */
void ec_init_tables(int k, int rows, unsigned char *a, unsigned char *gftbls);
void ec_init_tables_base(int k, int rows, unsigned char *a, unsigned char *gftbls);

/* coding[i] = sum over j < k of coefficient (i, j) times data[j]. */
void ec_encode_data(int len, int k, int rows, unsigned char *gftbls, unsigned char **data,
                    unsigned char **coding);

/* coding[i] += coefficient (i, vec_i) times data. */
void ec_encode_data_update(int len, int k, int rows, int vec_i, unsigned char *g_tbls,
                           unsigned char *data, unsigned char **coding);

/* dest = sum over j < vlen of coefficient j times src[j]. */
void gf_vect_dot_prod(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                      unsigned char *dest);

/* dest += coefficient vec_i times src. */
void gf_vect_mad(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                 unsigned char *dest);

/* The same in C for any processor; of a table they read byte 1 only. */
void ec_encode_data_base(int len, int srcs, int dests, unsigned char *v, unsigned char **src,
                         unsigned char **dest);
void ec_encode_data_update_base(int len, int k, int rows, int vec_i, unsigned char *v,
                                unsigned char *data, unsigned char **dest);
void gf_vect_dot_prod_base(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char *dest);
void gf_vect_mad_base(int len, int vec, int vec_i, unsigned char *v, unsigned char *src,
                      unsigned char *dest);

#if defined(__i386__) || defined(__x86_64__)
/* As the functions without an instruction set in their names, for the number of outputs (1 to 6) in
 * the name if there is one. The instruction set is chosen at run time, independently of the
 * name. */
void ec_encode_data_sse(int len, int k, int rows, unsigned char *gftbls, unsigned char **data,
                        unsigned char **coding);
void ec_encode_data_update_sse(int len, int k, int rows, int vec_i, unsigned char *g_tbls,
                               unsigned char *data, unsigned char **coding);
void ec_encode_data_avx(int len, int k, int rows, unsigned char *gftbls, unsigned char **data,
                        unsigned char **coding);
void ec_encode_data_update_avx(int len, int k, int rows, int vec_i, unsigned char *g_tbls,
                               unsigned char *data, unsigned char **coding);
void ec_encode_data_avx2(int len, int k, int rows, unsigned char *gftbls, unsigned char **data,
                         unsigned char **coding);
void ec_encode_data_update_avx2(int len, int k, int rows, int vec_i, unsigned char *g_tbls,
                                unsigned char *data, unsigned char **coding);
void gf_vect_dot_prod_sse(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                          unsigned char *dest);
void gf_vect_dot_prod_avx(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                          unsigned char *dest);
void gf_vect_dot_prod_avx2(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char *dest);
void gf_2vect_dot_prod_sse(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_2vect_dot_prod_avx(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_2vect_dot_prod_avx2(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                            unsigned char **dest);
void gf_3vect_dot_prod_sse(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_3vect_dot_prod_avx(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_3vect_dot_prod_avx2(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                            unsigned char **dest);
void gf_4vect_dot_prod_sse(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_4vect_dot_prod_avx(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_4vect_dot_prod_avx2(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                            unsigned char **dest);
void gf_5vect_dot_prod_sse(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_5vect_dot_prod_avx(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_5vect_dot_prod_avx2(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                            unsigned char **dest);
void gf_6vect_dot_prod_sse(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_6vect_dot_prod_avx(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                           unsigned char **dest);
void gf_6vect_dot_prod_avx2(int len, int vlen, unsigned char *gftbls, unsigned char **src,
                            unsigned char **dest);
void gf_vect_mad_sse(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                     unsigned char *dest);
void gf_vect_mad_avx(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                     unsigned char *dest);
void gf_vect_mad_avx2(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char *dest);
void gf_2vect_mad_sse(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_2vect_mad_avx(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_2vect_mad_avx2(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                       unsigned char **dest);
void gf_3vect_mad_sse(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_3vect_mad_avx(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_3vect_mad_avx2(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                       unsigned char **dest);
void gf_4vect_mad_sse(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_4vect_mad_avx(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_4vect_mad_avx2(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                       unsigned char **dest);
void gf_5vect_mad_sse(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_5vect_mad_avx(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_5vect_mad_avx2(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                       unsigned char **dest);
void gf_6vect_mad_sse(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_6vect_mad_avx(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                      unsigned char **dest);
void gf_6vect_mad_avx2(int len, int vec, int vec_i, unsigned char *gftbls, unsigned char *src,
                       unsigned char **dest);
#endif

/* The product of two elements; the inverse of an element, 0 for 0. */
unsigned char gf_mul(unsigned char a, unsigned char b);
unsigned char gf_inv(unsigned char a);

/* Write m rows of k coefficients: the identity, then (2^i)^j at row k + i, column j. Not every
 * square submatrix of it has an inverse: see docs/codes.md for the shapes that are safe. */
void gf_gen_rs_matrix(unsigned char *a, int m, int k);

/* The identity, then 1 / (i ^ j) at row i >= k, column j: MDS for m <= 256. */
void gf_gen_cauchy1_matrix(unsigned char *a, int m, int k);

/* out = 1 / in, n rows of n; `in` becomes the identity. Return 0, or -1 if there is no inverse;
 * both then hold the state at which the elimination stopped. */
int gf_invert_matrix(unsigned char *in, unsigned char *out, const int n);

#ifdef __cplusplus
}
#endif

#endif
