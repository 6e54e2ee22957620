/* transform.h: the additive FFT over GF(2^8) and GF(2^16), its inverse, and the formal derivative,
 * on rows of bytes.
 *
 * Row i belongs to the point whose coefficients in Cantor's basis are the bits of i. Polynomials
 * have coefficients in the basis of Lin, Chung and Han. The rows of a plane are contiguous, so one
 * kernel call processes all butterflies of a layer that have the same constant.
 *
 * Source: S.-J. Lin, W.-H. Chung, Y. S. Han, "Novel polynomial basis and its application to
 * Reed-Solomon erasure codes", FOCS 2014; S.-J. Lin, T. Y. Al-Naffouri, Y. S. Han, W.-H. Chung,
 * "Novel polynomial basis with fast Fourier transform and its application to Reed-Solomon erasure
 * codes", IEEE Transactions on Information Theory 62 (2016). */
#ifndef GFS_TRANSFORM_H
#define GFS_TRANSFORM_H

#include "cantor.h"
#include "dispatch.h"

enum { GFS_TRANSFORM_PLANES = 2 /* most planes of an element */ };

/* The kernels of an instruction set for a field, and the constants of the butterflies. In Cantor's
 * basis those of a layer are the constants of the first layer, 0, 2, 4, .., beginning with the
 * first. Two layers on four rows need the constants 2 c, 4 c and 4 c + 2, which are a group. */
typedef struct gfs_transform {
  gfsmith_kernel *fft, *ifft;
  gfsmith_kernel *fft4, *ifft4; /* two layers; NULL if the set has no such kernels */
  gfsmith_kernel *dot;          /* products of an element */
  gfsmith_kernel *mad;          /* of one plane: with the constant 1, the addition of rows */
  gfs_format format;
  unsigned planes;
  size_t entry;    /* bytes of the table of one constant */
  uint8_t one[32]; /* the table of the byte map x -> x */
  uint8_t *groups; /* the tables of the groups c = 0, 1, .. */
} gfs_transform;

/* Rows of `bytes` bytes: row i of a plane is at plane[p] + i * bytes. */
typedef struct gfs_rows {
  size_t bytes;
  uint8_t *plane[GFS_TRANSFORM_PLANES];
} gfs_rows;

/* A function of a row: before the inverse transform reads the row, or after the forward one has
 * computed it. The row is in the cache then, or will be used soon. */
typedef struct gfs_row_visit {
  void (*visit)(const void *context, const gfs_rows *rows, unsigned row);
  const void *context;
} gfs_row_visit;

/* Set up transforms of at most n points. Errors: GFSMITH_EUNSUPPORTED, GFSMITH_ENOMEM. */
gfsmith_status gfs_transform_create(gfs_transform *t, const gfs_cantor *field, unsigned planes,
                                    unsigned n);

void gfs_transform_destroy(gfs_transform *t);

/* Write the table of the product by x^exponent: t->entry bytes. */
void gfs_transform_table(const gfs_transform *t, const gfs_cantor *field, unsigned exponent,
                         uint8_t *table);

/* Rows `at` to at + size - 1, size a power of two that divides `at`, belong to the points from
 * `first` on. Values become coefficients. Of the rows only the first `given` are not 0; `fill`
 * writes each of them. */
void gfs_transform_inverse(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned given, gfs_row_visit fill);

/* Coefficients become values at the points from `first` on, a multiple of size. Only the rows from
 * `from` to `to` - 1 are computed; `take` reads each of them. */
void gfs_transform_forward(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned from, unsigned to, gfs_row_visit take);

/* Coefficients become those of the derivative. */
void gfs_transform_derive(const gfs_transform *t, const gfs_rows *rows, unsigned size);

/* rows[at..] += other[0..], `count` rows. */
void gfs_transform_add(const gfs_transform *t, const gfs_rows *rows, unsigned at,
                       const gfs_rows *other, unsigned first, unsigned count);

#endif
