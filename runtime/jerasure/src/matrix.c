/* Matrices of words and of bits: elimination, products, printing. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fields.h"
#include "jerasure.h"

/* A square matrix under elimination, and the one that undergoes the same steps; NULL: none. */
typedef struct pair {
  gf_t *field; /* NULL: bits */
  int *mat, *other;
  int rows;
} pair;

static int times(gf_t *field, int a, int b) {
  if (a == 0 || b == 0)
    return 0;
  return field == NULL ? a & b : (int)field->multiply(field, (uint32_t)a, (uint32_t)b);
}

/* row += factor * from */
static void add_row(const pair *p, int *mat, int row, int from, int factor) {
  for (int x = 0; mat != NULL && x < p->rows; x++)
    mat[row * p->rows + x] ^= times(p->field, factor, mat[from * p->rows + x]);
}

static void scale_row(const pair *p, int *mat, int row, int factor) {
  for (int x = 0; mat != NULL && x < p->rows; x++)
    mat[row * p->rows + x] = times(p->field, factor, mat[row * p->rows + x]);
}

static void swap_rows(const pair *p, int *mat, int a, int b) {
  for (int x = 0; mat != NULL && x < p->rows; x++) {
    int kept = mat[a * p->rows + x];
    mat[a * p->rows + x] = mat[b * p->rows + x];
    mat[b * p->rows + x] = kept;
  }
}

/* Bring a nonzero element to the diagonal, as 1. */
static bool pivot(const pair *p, int at) {
  int row = at;
  while (row < p->rows && p->mat[row * p->rows + at] == 0)
    row++;
  if (row == p->rows)
    return false;
  if (row != at) {
    swap_rows(p, p->mat, at, row);
    swap_rows(p, p->other, at, row);
  }
  int element = p->mat[at * p->rows + at];
  if (element != 1) {
    int inverse = (int)p->field->divide(p->field, 1, (uint32_t)element);
    scale_row(p, p->mat, at, inverse);
    scale_row(p, p->other, at, inverse);
  }
  return true;
}

static void clear_column(const pair *p, int at, int row) {
  int factor = p->mat[row * p->rows + at];
  if (factor == 0)
    return;
  add_row(p, p->mat, row, at, factor);
  add_row(p, p->other, row, at, factor);
}

/* Make the matrix upper triangular with ones on the diagonal; false if it is singular. */
static bool eliminate(const pair *p) {
  for (int at = 0; at < p->rows; at++) {
    if (!pivot(p, at))
      return false;
    for (int row = at + 1; row < p->rows; row++)
      clear_column(p, at, row);
  }
  return true;
}

static int invert(const pair *p) {
  for (int n = 0; n < p->rows * p->rows; n++)
    p->other[n] = n / p->rows == n % p->rows;
  if (!eliminate(p))
    return -1;
  for (int at = p->rows - 1; at >= 0; at--)
    for (int row = 0; row < at; row++)
      clear_column(p, at, row);
  return 0;
}

int jerasure_invert_matrix(int *mat, int *inv, int rows, int w) {
  return invert(&(pair){gfs_jerasure_field(w), mat, inv, rows});
}

int jerasure_invert_bitmatrix(int *mat, int *inv, int rows) {
  return invert(&(pair){NULL, mat, inv, rows});
}

int jerasure_invertible_matrix(int *mat, int rows, int w) {
  return eliminate(&(pair){gfs_jerasure_field(w), mat, NULL, rows});
}

int jerasure_invertible_bitmatrix(int *mat, int rows) {
  return eliminate(&(pair){NULL, mat, NULL, rows});
}

int *jerasure_matrix_multiply(int *m1, int *m2, int r1, int c1, int r2, int c2, int w) {
  gf_t *field = gfs_jerasure_field(w);
  int *product =
      r1 < 0 || c2 < 0 || c1 != r2 ? NULL : calloc((size_t)r1 * (size_t)c2 + 1, sizeof(int));
  for (int n = 0; product != NULL && n < r1 * c2; n++)
    for (int x = 0; x < c1; x++)
      product[n] ^= times(field, m1[n / c2 * c1 + x], m2[x * c2 + n % c2]);
  return product;
}

int *jerasure_matrix_to_bitmatrix(int k, int m, int w, int *matrix) {
  if (matrix == NULL || k < 0 || m < 0)
    return NULL;
  gf_t *field = gfs_jerasure_field(w);
  const size_t width = (size_t)k * (size_t)w;
  int *bits = malloc(width * (size_t)m * (size_t)w * sizeof(int) + 1);
  for (size_t n = 0; bits != NULL && n < (size_t)k * (size_t)m; n++) {
    uint32_t element = (uint32_t)matrix[n];
    int *corner = bits + n / (size_t)k * (size_t)w * width + n % (size_t)k * (size_t)w;
    for (int x = 0; x < w; x++) {
      for (int row = 0; row < w; row++)
        corner[(size_t)row * width + (size_t)x] = element >> row & 1;
      element = field->multiply(field, element, 2);
    }
  }
  return bits;
}

void jerasure_print_matrix(int *matrix, int rows, int cols, int w) {
  char most[16];
  int digits = snprintf(most, sizeof most, "%u", UINT32_MAX >> (GFS_JERASURE_WIDEST - w));
  for (int n = 0; n < rows * cols; n++)
    printf("%*u%c", digits, (unsigned)matrix[n], n % cols + 1 == cols ? '\n' : ' ');
}

void jerasure_print_bitmatrix(int *matrix, int rows, int cols, int w) {
  for (int row = 0; row < rows; row++) {
    if (row > 0 && row % w == 0)
      putchar('\n');
    for (int x = 0; x < cols; x++)
      printf(x > 0 && x % w == 0 ? " %d" : "%d", matrix[row * cols + x]);
    putchar('\n');
  }
}
