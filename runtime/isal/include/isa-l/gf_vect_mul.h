/* gf_vect_mul.h: one vector times one constant in GF(2^8) modulo 0x11d, as ISA-L declares it.
 *
 * gfsmith's drop-in for ISA-L's erasure-code and RAID interface (docs/isal.md). A client compiled
 * against ISA-L's own header may be linked with it just as well.
 *
 * A constant c is given to every function as a table of 32 bytes: c * n at byte n and c * 16n at
 * byte 16 + n, for n from 0 to 15. Byte 1 is c itself. */
#ifndef _GF_VECT_MUL_H
#define _GF_VECT_MUL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Write the table of c: 32 bytes. */
void gf_vect_mul_init(unsigned char c, unsigned char *gftbl);
void gf_vect_mul_init_base(unsigned char c, unsigned char *gftbl);

/* dest = c * src on len bytes; dest may be src. Any alignment. Return 0, or 1 (gf_vect_mul_base:
 * -1) with nothing done if len is not a multiple of 32. */
int gf_vect_mul(int len, unsigned char *gftbl, void *src, void *dest);
int gf_vect_mul_base(int len, unsigned char *gftbl, unsigned char *src, unsigned char *dest);

#if defined(__i386__) || defined(__x86_64__)
/* As gf_vect_mul. */
int gf_vect_mul_sse(int len, unsigned char *gftbl, void *src, void *dest);
int gf_vect_mul_avx(int len, unsigned char *gftbl, void *src, void *dest);
#endif

#ifdef __cplusplus
}
#endif

#endif
