/* Reed-Solomon matrices. Source: J. S. Plank, Y. Ding, "Note: Correction to the 1997 tutorial on
 * Reed-Solomon coding", Software: Practice and Experience 35, 2005. */
#include <stdlib.h>
#include <string.h>

#include "jerasure.h"
#include "jerasure/reed_sol.h"
#include "word.h"

/* Has GF(2^w) enough elements for so many rows and columns? */
static bool fits(int rows, int cols, int w) {
  return w >= 1 && rows >= 1 && cols >= 1 &&
         (w >= 31 || ((int64_t)rows <= (int64_t)1 << w && (int64_t)cols <= (int64_t)1 << w));
}

static int *new_matrix(int rows, int cols) {
  return malloc((size_t)rows * (size_t)cols * sizeof(int));
}

/* Row i is 1, i, i^2, ..., except the last, which is 0, ..., 0, 1 (the point at infinity). */
int *reed_sol_extended_vandermonde_matrix(int rows, int cols, int w) {
  int *made = fits(rows, cols, w) ? new_matrix(rows, cols) : NULL;
  for (int i = 0; made != NULL && i < rows; i++) {
    int power = 1;
    for (int j = 0; j < cols; j++) {
      made[i * cols + j] = i + 1 < rows || i == 0 ? power : j + 1 == cols;
      power = galois_single_multiply(power, i, w);
    }
  }
  return made;
}

/* matrix = matrix * inverse of its first `cols` rows. */
static bool make_systematic(int *matrix, int rows, int cols, int w) {
  int *top = new_matrix(cols, cols), *inverse = new_matrix(cols, cols), *product = NULL;
  if (top != NULL && inverse != NULL) {
    memcpy(top, matrix, (size_t)cols * (size_t)cols * sizeof(int));
    if (jerasure_invert_matrix(top, inverse, cols, w) == 0)
      product = jerasure_matrix_multiply(matrix, inverse, rows, cols, cols, cols, w);
  }
  if (product != NULL)
    memcpy(matrix, product, (size_t)rows * (size_t)cols * sizeof(int));
  free(top);
  free(inverse);
  free(product);
  return product != NULL;
}

/* Scale the columns of the coding rows so that the first row is 1, then the other rows so that
 * their first element is 1. */
static void scale(int *coding, int rows, int cols, int w) {
  for (int j = 0; j < cols; j++) {
    int inverse = galois_inverse(coding[j], w);
    for (int i = 0; i < rows; i++)
      coding[i * cols + j] = galois_single_multiply(coding[i * cols + j], inverse, w);
  }
  for (int i = 1; i < rows; i++) {
    int inverse = galois_inverse(coding[i * cols], w);
    for (int j = 0; j < cols; j++)
      coding[i * cols + j] = galois_single_multiply(coding[i * cols + j], inverse, w);
  }
}

int *reed_sol_big_vandermonde_distribution_matrix(int rows, int cols, int w) {
  int *made = cols < rows ? reed_sol_extended_vandermonde_matrix(rows, cols, w) : NULL;
  if (made != NULL && !make_systematic(made, rows, cols, w)) {
    free(made);
    return NULL;
  }
  if (made != NULL)
    scale(made + (size_t)cols * (size_t)cols, rows - cols, cols, w);
  return made;
}

int *reed_sol_vandermonde_coding_matrix(int k, int m, int w) {
  int *whole = k < 1 || m < 1 ? NULL : reed_sol_big_vandermonde_distribution_matrix(k + m, k, w);
  int *coding = whole == NULL ? NULL : new_matrix(m, k);
  if (coding != NULL)
    memcpy(coding, whole + (size_t)k * (size_t)k, (size_t)m * (size_t)k * sizeof(int));
  free(whole);
  return coding;
}

/* Rows of 1 and of the powers of 2. */
int *reed_sol_r6_coding_matrix(int k, int w) {
  if ((w != 8 && w != 16 && w != 32) || k < 1)
    return NULL;
  int *made = new_matrix(2, k), power = 1;
  for (int j = 0; made != NULL && j < k; j++) {
    made[j] = 1;
    made[k + j] = power;
    power = galois_single_multiply(power, 2, w);
  }
  return made;
}
