/* named.c: the functions of ISA-L's headers with an instruction set or a method (by8) in their
 * names. All of them use the best set of the CPU, independently of the name. */
#include "isa-l.h"

typedef unsigned char byte;

#if defined(__i386__) || defined(__x86_64__)

#define DOT(n, set)                                                                                \
  void gf_##n##vect_dot_prod_##set(int len, int vlen, byte *gftbls, byte **src, byte **dest) {     \
    ec_encode_data(len, vlen, n, gftbls, src, dest);                                               \
  }
#define MAD(n, set)                                                                                \
  void gf_##n##vect_mad_##set(int len, int vec, int vec_i, byte *gftbls, byte *src, byte **dest) { \
    ec_encode_data_update(len, vec, n, vec_i, gftbls, src, dest);                                  \
  }
#define SET(set)                                                                                   \
  void ec_encode_data_##set(int len, int k, int rows, byte *gftbls, byte **data, byte **coding) {  \
    ec_encode_data(len, k, rows, gftbls, data, coding);                                            \
  }                                                                                                \
  void ec_encode_data_update_##set(int len, int k, int rows, int vec_i, byte *g_tbls, byte *data,  \
                                   byte **coding) {                                                \
    ec_encode_data_update(len, k, rows, vec_i, g_tbls, data, coding);                              \
  }                                                                                                \
  void gf_vect_dot_prod_##set(int len, int vlen, byte *gftbls, byte **src, byte *dest) {           \
    gf_vect_dot_prod(len, vlen, gftbls, src, dest);                                                \
  }                                                                                                \
  void gf_vect_mad_##set(int len, int vec, int vec_i, byte *gftbls, byte *src, byte *dest) {       \
    gf_vect_mad(len, vec, vec_i, gftbls, src, dest);                                               \
  }                                                                                                \
  DOT(2, set)                                                                                      \
  DOT(3, set)                                                                                      \
  DOT(4, set) DOT(5, set) DOT(6, set) MAD(2, set) MAD(3, set) MAD(4, set) MAD(5, set) MAD(6, set)
#define RAID(function, set)                                                                        \
  int function##_##set(int vects, int len, void **array) { return function(vects, len, array); }

#define MUL(set)                                                                                   \
  int gf_vect_mul_##set(int len, byte *gftbl, void *src, void *dest) {                             \
    return gf_vect_mul(len, gftbl, src, dest);                                                     \
  }
#define XOR(set) RAID(xor_gen, set)
#define CHECKS(set) RAID(xor_check, set) RAID(pq_check, set)
#define PQ(set) RAID(pq_gen, set)
#define ALL_SSE(set) SET(set) MUL(set) XOR(set) CHECKS(set) PQ(set)
#define ALL_AVX(set) SET(set) MUL(set) XOR(set) PQ(set)
#define ALL_AVX2(set) SET(set) PQ(set)

ALL_SSE(sse)
ALL_AVX(avx)
ALL_AVX2(avx2)

#define BY8(name)                                                                                  \
  uint64_t name##_by8(uint64_t init_crc, const byte *buf, uint64_t len) {                          \
    return name(init_crc, buf, len);                                                               \
  }
#define ORDERS(name) BY8(name##_refl) BY8(name##_norm)

ORDERS(crc64_ecma)
ORDERS(crc64_iso)
ORDERS(crc64_jones)
ORDERS(crc64_rocksoft)

#endif
