/* transform.h: the additive FFT over GF(2^8) and GF(2^16), its inverse, and the sum of a polynomial
 * and its formal derivative, on rows of bytes.
 *
 * Row i belongs to the point whose coefficients in Cantor's basis are the bits of i. Polynomials
 * have coefficients in the basis of Lin, Chung and Han. Rows follow one another, so if a constant
 * is in GF(2^8), one kernel call processes all its butterflies in a layer.
 *
 * Source: S.-J. Lin, W.-H. Chung, Y. S. Han, "Novel polynomial basis and its application to
 * Reed-Solomon erasure codes", FOCS 2014; S.-J. Lin, T. Y. Al-Naffouri, Y. S. Han, W.-H. Chung,
 * "Novel polynomial basis with fast Fourier transform and its application to Reed-Solomon erasure
 * codes", IEEE Transactions on Information Theory 62 (2016). */
#ifndef GFS_TRANSFORM_H
#define GFS_TRANSFORM_H

#include "cantor.h"
#include "dispatch.h"
#include "rows.h"

enum {
  GFS_TRANSFORM_PLANES = 2, /* most planes of an element */
  /* most bytes of the table of gfs_transform_table */
  GFS_TRANSFORM_ENTRY_MAX = GFS_TRANSFORM_PLANES * GFS_TRANSFORM_PLANES * GFS_ENTRY_MAX,
  GFS_ADDED_MOST = 16 /* rows that a call adds to one: one for each bit of a row's number */
};

/* The kernels of butterflies of elements that consist of `planes` bytes each, and the tables of
 * their constants. In Cantor's basis those of a layer are the constants of the first layer, 0, 2,
 * 4, .., beginning with the first. Two layers on four rows need the constants 2 c, 4 c and 4 c + 2,
 * which are a group. */
typedef struct gfs_butterflies {
  gfsmith_kernel *fft, *ifft;
  gfsmith_kernel *fft4, *ifft4; /* two layers; NULL if the set has no such kernels */
  unsigned planes;
  size_t entry;    /* bytes of the table of one constant */
  size_t group;    /* bytes of the tables of a group */
  unsigned least;  /* the first group */
  uint8_t *groups; /* the tables of the groups c = least, least + 1, .. */
} gfs_butterflies;

/* The kernels of four layers on 16 rows, with 15 constants: 2 c; 4 c, 4 c + 2; 8 c, .., 8 c + 6;
 * 16 c, .., 16 c + 14. NULL if the set has no such kernels. refft16 computes ifft16 with the
 * constants of c = 1, then fft16 with those of c = 0. */
typedef struct gfs_fours {
  gfsmith_kernel *fft16, *ifft16, *refft16;
  uint8_t *groups; /* the tables for c = 0, 1, .. */
} gfs_fours;

/* The kernels of two layers whose elements are in lines at one end: 32 low bytes, then the 32 high
 * ones, and so on, in Cantor's basis. The tables are those of words, behind which a group has the
 * map that changes the basis. Lines of elements of one byte are like rows, and these kernels those
 * of all layers. Scaled ones multiply each element in lines instead. NULL if the set has no such
 * kernels. */
typedef struct gfs_ends {
  gfsmith_kernel *first; /* ifft4, from lines */
  gfsmith_kernel *last;  /* fft4, to lines */
  gfsmith_kernel *scaled_first, *scaled_last;
} gfs_ends;

/* Rows have the elements of GF(2^16) in the basis b[0] .. b[7], b[8] b[0] .. b[8] b[7], where b[0],
 * b[1], .. is Cantor's. b[0] .. b[7] is a basis of the subfield GF(2^8), so a product by one of its
 * elements is the same map of the low and of the high byte. Most constants are in the subfield:
 * those below 256. */
typedef struct gfs_transform {
  gfs_butterflies bytes; /* by constants in GF(2^8), of each byte */
  gfs_butterflies words; /* by the other constants */
  gfs_fours fours;       /* by constants in GF(2^8), of each byte */
  gfs_ends ends;         /* by all constants */
  gfsmith_kernel *dot;   /* products of an element */
  gfsmith_kernel *mad;   /* of one byte: with the constant 1, the addition of rows */
  gfsmith_kernel *mads;  /* the same for any number of rows; NULL if the set has no such kernel */
  gfs_format format;
  unsigned planes;                              /* bytes of an element */
  size_t kept;                                  /* bytes of rows that a core's own cache keeps */
  size_t entry;                                 /* bytes of the table of gfs_transform_table */
  uint8_t ones[GFS_ADDED_MOST * GFS_ENTRY_MAX]; /* tables of the byte map x -> x */
  uint8_t change[32]; /* that of the map that gives the difference of the bases' low bytes */
  uint8_t image[256]; /* of each high byte under this map */
} gfs_transform;

/* The bases of elements: Cantor's in shards, and that of rows. */
typedef enum gfs_basis { GFS_BASIS_SHARD, GFS_BASIS_ROW } gfs_basis;

/* The rows of a transform, with gaps if it has kernels for four layers. */
static inline gfs_rows gfs_rows_at(const gfs_transform *t, size_t bytes, uint8_t *start) {
  gfs_rows rows = {.bytes = bytes, .run = GFS_ROWS_ALL, .start = start};
  if (t->fours.fft16 == NULL)
    return rows;
  rows.run = 2; /* the rows of a kernel of gfs_ends are contiguous */
  while (bytes << rows.run < GFS_ROWS_RUN)
    rows.run++;
  return rows;
}

enum { GFS_END_ROWS = 4 /* of a kernel of gfs_ends */ };

/* Two layers of a transform on the four rows from `row` on, where lines replace the rows. */
typedef struct gfs_end {
  const gfs_transform *t;
  const gfs_rows *rows;
  unsigned row;
  const uint8_t *table;
} gfs_end;

/* A function of a row: before the inverse transform reads the row, or after the forward one has
 * computed it. The row is in the cache then, or will be used soon. visit_end, unless it is NULL, is
 * called for four such rows instead, with two layers that it computes from or to lines; if it
 * returns false, it has done nothing, and `visit` is called for each row. */
typedef struct gfs_row_visit {
  void (*visit)(const void *context, const gfs_rows *rows, unsigned row);
  const void *context;
  bool (*visit_end)(const void *context, const gfs_end *end);
} gfs_row_visit;

/* The first two layers of an inverse transform, from the lines of four elements: the bytes of
 * shards from `at` on. `shard` should be a part of the array that a caller of the library gave: a
 * CPU that reads two pointers of a fresh copy at once waits for its stores. */
void gfs_end_read(const gfs_end *end, const uint8_t *const shard[GFS_END_ROWS], size_t at);

/* The last two layers of a forward transform, to the lines of four elements. */
void gfs_end_write(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS], size_t at);

/* The same by the scaled kernels: each element in lines is multiplied by a table of
 * gfs_transform_table. */
void gfs_end_read_scaled(const gfs_end *end, const uint8_t *const shard[GFS_END_ROWS], size_t at,
                         const uint8_t *const scale[GFS_END_ROWS]);
void gfs_end_write_scaled(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS], size_t at,
                          const uint8_t *const scale[GFS_END_ROWS]);

/* Set up transforms of at most n points. Errors: GFSMITH_EUNSUPPORTED, GFSMITH_ENOMEM. */
gfsmith_status gfs_transform_create(gfs_transform *t, const gfs_cantor *field, unsigned planes,
                                    unsigned n);

void gfs_transform_destroy(gfs_transform *t);

/* Write the table of the product by x^exponent, of elements in the basis `from`, with results in
 * the basis `to`: t->entry bytes. */
void gfs_transform_table(const gfs_transform *t, const gfs_cantor *field, unsigned exponent,
                         gfs_basis from, gfs_basis to, uint8_t *table);

/* Change the basis of the elements of a row from either one to the other one. */
void gfs_transform_change(const gfs_transform *t, const gfs_rows *rows, unsigned row);

/* The bytes number `plane` of the elements of a row. */
static inline uint8_t *gfs_transform_plane(const gfs_transform *t, const gfs_rows *rows, size_t row,
                                           unsigned plane) {
  return gfs_rows_row(rows, row) + plane * (rows->bytes / t->planes);
}

/* Rows `at` to at + size - 1, size a power of two that divides `at`, belong to the points from
 * `first` on. Values become coefficients. Only the first `given` values are not 0; `fill` writes
 * each of them. Rows may have any bytes before. */
void gfs_transform_inverse(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned given, gfs_row_visit fill);

/* Coefficients become values at the points from `first` on, a multiple of size. Only the rows from
 * `from` to `to` - 1 are computed; `take` reads each of them. */
void gfs_transform_forward(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned from, unsigned to, gfs_row_visit take);

/* Both transforms: values at the points from `size` on, of which only the first `given` are not 0,
 * and at least one, become those at the points 0 to `to` - 1. */
void gfs_transform_extend(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                          unsigned given, gfs_row_visit fill, unsigned to, gfs_row_visit take);

/* The values of a polynomial at a number of points from `first` on, which divides `first`. Only the
 * first `given` are not 0; `fill` writes each of them to its row. */
typedef struct gfs_values {
  const gfs_rows *rows;
  unsigned first, given;
  gfs_row_visit fill;
} gfs_values;

enum { GFS_TRANSFORM_SPARE = 16 * (GFS_ROWS_MOST + GFS_ROWS_GAP) /* bytes */ };

/* Let g be the polynomial of degree below size, a power of two, with the values `own`, and f the
 * one with the values `other`, or g if this is NULL. The values of f + g' at the points of `own`
 * replace the rows of f; `take` reads those from `from` to `to` - 1. The rows of g may have any
 * bytes then. spare: GFS_TRANSFORM_SPARE bytes, at a multiple of a cache line. */
void gfs_transform_derived(const gfs_transform *t, unsigned size, const gfs_values *own,
                           const gfs_values *other, uint8_t *spare, unsigned from, unsigned to,
                           gfs_row_visit take);

/* rows[at..] += other[first..], `count` rows, a power of two that divides `at` and `first`. */
void gfs_transform_add(const gfs_transform *t, const gfs_rows *rows, unsigned at,
                       const gfs_rows *other, unsigned first, unsigned count);

#endif
