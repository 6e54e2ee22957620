#include "codes.h"

#include <stddef.h>
#include <string.h>

/* (2^i)^j, as ISA-L gf_gen_rs_matrix. 2 generates the field of 0x11d, so that is 2^(i*j). */
static uint8_t vandermonde_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                                   unsigned j) {
  (void)k, (void)m;
  return field->exp[field->log[2] * i * j % 255];
}

/* With at most three rows (or columns) every minor is that of a generalised Vandermonde matrix that
 * is never singular. For other shapes generator/gfsmith/codes computes minors until one is zero,
 * and the tests compare this function with its results. ISA-L's erasure_code.h names the same
 * shapes as safe. */
static bool vandermonde_is_mds(unsigned k, unsigned m) {
  return m <= 3 || k <= 3 || (m == 4 && k <= 21) || (k == 4 && k + m <= 25) ||
         (k == 5 && k + m <= 10);
}

/* (j + 1)^i, rows of powers of the points 1 .. k: Plank's tutorial of 1997. */
static uint8_t plank_vandermonde_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                                         unsigned j) {
  (void)k, (void)m;
  return field->exp[field->log[j + 1] * i % 255];
}

/* Three rows are a conic. Of four rows, 0, 1 and 3 are singular at points whose sum is 0: 1, 2, 3.
 * With two columns a minor is x^i y^l + x^l y^i, not 0 as 1 and 2 have a quotient of order 255. */
static bool plank_vandermonde_is_mds(unsigned k, unsigned m) { return m <= 3 || k <= 2; }

/* 1 / (x_i + y_j), x_i = k + i, y_j = j, as ISA-L gf_gen_cauchy1_matrix. */
static uint8_t cauchy_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                              unsigned j) {
  (void)m;
  return gfs_field_inverse(field, (uint8_t)((k + i) ^ j));
}

/* V, V[i][j] = i^j, times the inverse of its top k rows, as in Backblaze's JavaReedSolomon: a
 * polynomial of degree below k has data shard j as its value at j, and parity i as its value at k +
 * i. By Lagrange, c[i][j] = product over l < k, l != j, of ((k + i) - l) / (j - l). */
static uint8_t backblaze_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                                 unsigned j) {
  (void)m;
  unsigned logarithm = 0;
  for (unsigned l = 0; l < k; l++)
    if (l != j)
      logarithm += 255u + field->log[(k + i) ^ l] - field->log[j ^ l];
  return field->exp[logarithm % 255];
}

/* The logarithm of the product of x + v over v < size, v != x. */
static unsigned span_logarithm(const gfs_field *field, unsigned size, unsigned x) {
  unsigned logarithm = 0;
  for (unsigned v = 0; v < size; v++)
    if (v != x)
      logarithm += field->log[x ^ v];
  return logarithm % 255;
}

/* The code of Lin, Chung and Han's additive Fourier transform (FOCS 2014). V = {0 .. size - 1},
 * where size is the least power of two such that V contains the points i of the parities. c[i][j]
 * is the value at x_j of the polynomial that is 1 at i and 0 on the rest of V: s(x_j) / s'(0) /
 * (x_j + i), where s(x) is the product of x + v over V. One transform then computes a coset of V
 * among the x_j. When all points outside V are used up, the unused points of V follow, with 1 /
 * (x_j + i) (s is 0 there). */
static uint8_t lch_element(const gfs_field *field, unsigned k, unsigned m, unsigned i, unsigned j) {
  (void)k;
  unsigned size = 1;
  while (size < m)
    size *= 2;
  if (j >= 256 - size) {
    unsigned x = m + j - (256 - size);
    return gfs_field_inverse(field, (uint8_t)(x ^ i));
  }
  unsigned x = size + j;
  unsigned scale = span_logarithm(field, size, x) + 255 - span_logarithm(field, size, 0);
  return field->exp[(scale + 255 - field->log[x ^ i]) % 255];
}

/* 1 / (i + (m + j)), as Jerasure cauchy_original_coding_matrix. */
static uint8_t cauchy_orig_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                                   unsigned j) {
  (void)k;
  return gfs_field_inverse(field, (uint8_t)(i ^ (m + j)));
}

/* The number of ones in the bit matrix of x -> element * x. */
static unsigned bits_of_matrix(const gfs_field *field, uint8_t element) {
  unsigned count = 0;
  for (unsigned x = 0; x < 8; x++)
    for (unsigned column = gfs_field_mul(field, element, (uint8_t)(1u << x)); column != 0;
         column &= column - 1)
      count++;
  return count;
}

/* The k elements with the fewest ones; if equal, the smaller element first. */
static void lightest(const gfs_field *field, unsigned k, uint8_t *row) {
  unsigned found = 0;
  for (unsigned weight = 8; weight <= 64 && found < k; weight++)
    for (unsigned element = 1; element < 256 && found < k; element++)
      if (bits_of_matrix(field, (uint8_t)element) == weight)
        row[found++] = (uint8_t)element;
}

/* Divide a row by one of its elements (or by 1): the first one that leaves the fewest ones. */
static void lighten(const gfs_field *field, unsigned k, uint8_t *row) {
  uint8_t weights[256];
  uint8_t scale = 1;
  unsigned least = 64 * 256;
  for (unsigned element = 0; element < 256; element++)
    weights[element] = (uint8_t)bits_of_matrix(field, (uint8_t)element);
  for (unsigned n = 0; n <= k; n++) {
    uint8_t inverse = n == 0 ? 1 : gfs_field_inverse(field, row[n - 1]);
    unsigned weight = 0;
    for (unsigned j = 0; j < k; j++)
      weight += weights[gfs_field_mul(field, row[j], inverse)];
    if (weight < least) {
      least = weight;
      scale = inverse;
    }
  }
  for (unsigned j = 0; j < k; j++)
    row[j] = gfs_field_mul(field, row[j], scale);
}

/* Scale the columns so that the first row is 1. */
static void scale_columns(const gfs_field *field, unsigned k, unsigned m, uint8_t *matrix) {
  for (unsigned j = 0; j < k; j++) {
    uint8_t inverse = gfs_field_inverse(field, matrix[j]);
    for (size_t i = 0; i < m; i++)
      matrix[i * k + j] = gfs_field_mul(field, matrix[i * k + j], inverse);
  }
}

/* Jerasure cauchy_good_general_coding_matrix (Plank, Xu, NCA 2006): columns scaled so that the
 * first row is 1, then each other row divided; with two rows, the lightest elements in the
 * field. */
static void cauchy_good_improve(const gfs_field *field, unsigned k, unsigned m, uint8_t *matrix) {
  scale_columns(field, k, m, matrix);
  if (m == 2)
    lightest(field, k, matrix + k);
  for (size_t i = 1; i < m && m != 2; i++)
    lighten(field, k, matrix + i * k);
}

/* The systematic form of a Vandermonde matrix with rows i^j, except that the last row takes the
 * leading coefficient of the polynomial. For the polynomial that is 1 at j and 0 at the other
 * points, this is the product of 1 / (j - l).
 */
static uint8_t reed_sol_van_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                                    unsigned j) {
  if (i + 1 < m)
    return backblaze_element(field, k, m, i, j);
  unsigned logarithm = 0;
  for (unsigned l = 0; l < k; l++)
    if (l != j)
      logarithm += 255u - field->log[j ^ l];
  return field->exp[logarithm % 255];
}

/* Jerasure reed_sol_vandermonde_coding_matrix: columns scaled so that the first row is 1, then rows
 * scaled so that the first column is 1. */
static void reed_sol_van_improve(const gfs_field *field, unsigned k, unsigned m, uint8_t *matrix) {
  scale_columns(field, k, m, matrix);
  for (size_t i = 1; i < m; i++) {
    uint8_t inverse = gfs_field_inverse(field, matrix[i * k]);
    for (unsigned j = 0; j < k; j++)
      matrix[i * k + j] = gfs_field_mul(field, matrix[i * k + j], inverse);
  }
}

/* 2^(i (k - 1 - j)): OpenZFS multiplies by Horner's rule, so the first column gets the highest
 * power. */
static uint8_t raidz_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                             unsigned j) {
  return vandermonde_element(field, k, m, i, k - 1 - j);
}

/* SnapRAID: below a row of 1, 1 / (x + y) with x = 2^-j and y = 0, 2, 4, 8, 16, rows scaled so that
 * the first column is 1. x = y for none of the first 251 columns. */
static uint8_t snapraid_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                                unsigned j) {
  (void)k, (void)m;
  if (i == 0)
    return 1;
  unsigned x = field->exp[(255 - j) % 255], y = i == 1 ? 0 : 1u << (i - 1);
  return gfs_field_mul(field, (uint8_t)(1 ^ y), gfs_field_inverse(field, (uint8_t)(x ^ y)));
}

/* 0, then the powers of 2: the points of zfec's polynomial. */
static uint8_t zfec_point(const gfs_field *field, unsigned n) {
  return n == 0 ? 0 : field->exp[field->log[2] * (n - 1) % 255];
}

/* zfec, after Rizzo's fec: V, V[i][j] = x_i^j, times the inverse of its top k rows. As for
 * "backblaze" by Lagrange, with other points: c[i][j] = product over l < k, l != j, of (x_(k + i) -
 * x_l) / (x_j - x_l). */
static uint8_t zfec_element(const gfs_field *field, unsigned k, unsigned m, unsigned i,
                            unsigned j) {
  (void)m;
  uint8_t from = zfec_point(field, j), to = zfec_point(field, k + i);
  unsigned logarithm = 0;
  for (unsigned l = 0; l < k; l++) {
    uint8_t point = zfec_point(field, l);
    if (l != j)
      logarithm += 255u + field->log[to ^ point] - field->log[from ^ point];
  }
  return field->exp[logarithm % 255];
}

static const gfs_code codes[] = {
    /* begin facts: codes in C */
    /* clang-format off */
    {"vandermonde", 254, 1, 254, vandermonde_is_mds, vandermonde_element, NULL},
    {"cauchy", 254, 1, 254, NULL, cauchy_element, NULL},
    {"backblaze", 254, 1, 254, NULL, backblaze_element, NULL},
    {"lch", 254, 1, 254, NULL, lch_element, NULL},
    {"cauchy_orig", 254, 1, 254, NULL, cauchy_orig_element, NULL},
    {"cauchy_good", 254, 1, 254, NULL, cauchy_orig_element, cauchy_good_improve},
    {"plank_vandermonde", 254, 1, 254, plank_vandermonde_is_mds, plank_vandermonde_element, NULL},
    {"reed_sol_van", 254, 1, 254, NULL, reed_sol_van_element, reed_sol_van_improve},
    {"reed_sol_r6_op", 253, 2, 2, NULL, vandermonde_element, NULL},
    {"hdfs", 254, 1, 254, NULL, cauchy_element, NULL},
    {"raid6", 253, 2, 2, NULL, vandermonde_element, NULL},
    {"raidz", 254, 1, 3, NULL, raidz_element, NULL},
    {"snapraid", 251, 1, 6, NULL, snapraid_element, NULL},
    {"zfec", 254, 1, 254, NULL, zfec_element, NULL},
    /* clang-format on */
    /* end facts */
};

/* Names of projects that write these codes. */
static const struct {
  const char *alias, *name;
} aliases[] = {
    /* begin facts: aliases in C */
    /* clang-format off */
    {"klauspost", "backblaze"},
    {"minio", "backblaze"},
    {"seaweedfs", "backblaze"},
    {"reed-solomon-erasure", "backblaze"},
    {"hadoop", "hdfs"},
    {"md", "raid6"},
    {"btrfs", "raid6"},
    {"zfs", "raidz"},
    {"openzfs", "raidz"},
    {"tahoe-lafs", "zfec"},
    /* clang-format on */
    /* end facts */
};

const gfs_code *gfs_code_find(const char *name) {
  for (size_t n = 0; n < sizeof aliases / sizeof aliases[0]; n++)
    if (strcmp(aliases[n].alias, name) == 0)
      name = aliases[n].name;
  for (size_t n = 0; n < sizeof codes / sizeof codes[0]; n++)
    if (strcmp(codes[n].name, name) == 0)
      return &codes[n];
  return NULL;
}

bool gfs_code_has(const gfs_code *code, unsigned k, unsigned m) {
  return k >= 1 && k <= code->most_k && m >= code->least_m && m <= code->most_m;
}
