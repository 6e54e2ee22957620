/** @file
 * Products and inverses in GF(2^8) of data by data, of polynomials over GF(2^8), and of bit
 * matrices; and products of data by matrices over GF(2^4) and GF(2^16) (at the end).
 *
 * The codec of gfsmith.h multiplies data by constants; here both factors are data. The formulas are
 * those of sections II, III-B and III-C of Drucker, Gueron, Krasnov, "The comeback of Reed Solomon
 * codes" (docs/algebra.md).
 *
 * A field is GF(2)[x] / p(x) for any irreducible p of degree 8, given as `polynomial` with its x^8
 * term, bit n being the coefficient of x^n: 0x11b (AES), 0x11d (ISA-L, RAID-6), and 28 more. Byte b
 * is the element sum of b_n x^n.
 *
 * Time depends on the function, the field's polynomial and the counts, never on data: no address
 * and no branch depends on data. The functions use the current instruction set (gfsmith_isa(),
 * gfsmith_set_isa()): sets with GFNI have their own routines, all others share portable ones.
 * Nothing is allocated, except by gfsmith_linear_create.
 *
 * Arrays need no alignment and no padding; the functions access exactly the described bytes. `out`
 * may be one of the operands (in place); otherwise it must not overlap an operand. Operands may
 * overlap each other.
 *
 * Every function returns GFSMITH_OK, or GFSMITH_EINVAL with nothing written: a polynomial that is
 * reducible or not of degree 8, an array that is NULL though its size is not 0, or a size that no
 * array can have. A size of 0 succeeds if the rest is valid, and no array is read. */
#ifndef GFSMITH_ALGEBRA_H
#define GFSMITH_ALGEBRA_H

#include <gfsmith.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out[i] = a[i] * b[i], i < len.
 *
 * @param polynomial the field's
 * @param len bytes of each array
 * @param a factors, read
 * @param b factors, read
 * @param out products, written
 * @return GFSMITH_OK or GFSMITH_EINVAL, as above */
GFSMITH_API gfsmith_status gfsmith_multiply(unsigned polynomial, size_t len, const uint8_t *a,
                                            const uint8_t *b, uint8_t *out);

/** out[i] = 1 / in[i], and 0 for 0, i < len.
 *
 * @param polynomial the field's
 * @param len bytes of each array
 * @param in read
 * @param out inverses, written
 * @return GFSMITH_OK or GFSMITH_EINVAL, as above */
GFSMITH_API gfsmith_status gfsmith_invert(unsigned polynomial, size_t len, const uint8_t *in,
                                          uint8_t *out);

/** C = A B mod P for each of n pairs of polynomials over the field, P = y^degree + lower terms.
 *
 * A polynomial of degree below `degree` consists of `degree` bytes, byte i being the coefficient of
 * y^i; a, b and out hold n of them one after another.
 *
 * @param polynomial the field's
 * @param degree 8, 16 or 32
 * @param n pairs
 * @param a n polynomials A, read
 * @param b n polynomials B, read
 * @param modulus the lower `degree` coefficients of P, the same for all, in the same order (P may
 * be reducible). It may overlap out, because it is read first
 * @param out n polynomials C, written
 * @return as above, with GFSMITH_EINVAL also for another degree */
GFSMITH_API gfsmith_status gfsmith_multiply_polynomials(unsigned polynomial, unsigned degree,
                                                        size_t n, const uint8_t *a,
                                                        const uint8_t *b, const uint8_t *modulus,
                                                        uint8_t *out);

/** C = A B for each of n pairs of 8 x 8 matrices over GF(2): 8 bytes each, byte r is row r, and bit
 * c of it is column c (bit 0 the lowest).
 *
 * @param n pairs
 * @param a n matrices A, read
 * @param b n matrices B, read
 * @param out n matrices C, written
 * @return GFSMITH_OK or GFSMITH_EINVAL, as above */
GFSMITH_API gfsmith_status gfsmith_multiply_matrices8(size_t n, const uint8_t *a, const uint8_t *b,
                                                      uint8_t *out);

/** C = A B for each of n pairs of 64 x 64 matrices over GF(2): 64 numbers each, number r is row r,
 * and bit c of it is column c.
 *
 * @param n pairs
 * @param a n matrices A, read
 * @param b n matrices B, read
 * @param out n matrices C, written
 * @return GFSMITH_OK or GFSMITH_EINVAL, as above */
GFSMITH_API gfsmith_status gfsmith_multiply_matrices64(size_t n, const uint64_t *a,
                                                       const uint64_t *b, uint64_t *out);

/** A matrix over GF(2^4) or GF(2^16), with tables for the kernels of an instruction set: immutable,
 * so threads may share it.
 *
 * Sources and results are byte planes. In GF(2^4), a shard is one plane, and a byte holds two
 * elements: the first in bits 0 to 3, the second in bits 4 to 7. In GF(2^16), a shard is two planes
 * of equal length: plane 2j has the low bytes of the elements of shard j, plane 2j + 1 the high
 * bytes. Bit n of an element is the coefficient of x^n.
 *
 * Source of the split into planes: Plank, Greenan, Miller, "Screaming fast Galois field arithmetic
 * using Intel SIMD instructions", FAST 2013 (docs/widths.md). */
typedef struct gfsmith_linear gfsmith_linear;

/** Make an object from a matrix, for the current instruction set. To encode, give the parity
 * matrix; to multiply a shard by a constant, a matrix of one element.
 *
 * @param out the object, written if the status is GFSMITH_OK
 * @param polynomial the field's, irreducible of degree 4 or 16, with its leading term: 0x13,
 * 0x1100b (PAR2), ...
 * @param k columns of the matrix, sources
 * @param m rows of the matrix, results; k + m <= 255 over GF(2^4), <= 127 over GF(2^16)
 * @param matrix m rows of k elements, copied
 * @return GFSMITH_EINVAL (a pointer is NULL, another polynomial, k or m out of range, an element
 *     beyond the field), GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED (the build lacks the kernels) */
GFSMITH_API gfsmith_status gfsmith_linear_create(gfsmith_linear **out, unsigned polynomial,
                                                 unsigned k, unsigned m, const uint16_t *matrix);

/** Free an object.
 *
 * @param linear the object; NULL is allowed */
GFSMITH_API void gfsmith_linear_destroy(gfsmith_linear *linear);

/** dst[i] = sum over j of matrix[i][j] * src[j], element by element.
 *
 * @param linear the matrix
 * @param len bytes of every plane
 * @param src pointers to the planes of k shards, read
 * @param dst pointers to the planes of m shards, written; they overlap neither each other nor a
 *     source
 * @return GFSMITH_EINVAL (linear NULL; with len > 0, an array or one of its pointers NULL) */
GFSMITH_API gfsmith_status gfsmith_linear_dot(const gfsmith_linear *linear, size_t len,
                                              const uint8_t *const *src, uint8_t *const *dst);

/** dst[i] += sum over j of matrix[i][j] * src[j], element by element.
 *
 * @param linear the matrix
 * @param len bytes of every plane
 * @param src pointers to the planes of k shards, read
 * @param dst pointers to the planes of m shards, to which the products are added; they overlap
 *     neither each other nor a source
 * @return GFSMITH_EINVAL (linear NULL; with len > 0, an array or one of its pointers NULL) */
GFSMITH_API gfsmith_status gfsmith_linear_mad(const gfsmith_linear *linear, size_t len,
                                              const uint8_t *const *src, uint8_t *const *dst);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_ALGEBRA_H */
