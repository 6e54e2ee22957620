/* Cauchy matrices. Source: J. S. Plank, L. Xu, "Optimizing Cauchy Reed-Solomon codes for
 * fault-tolerant network storage applications", NCA 2006. */
#include "jerasure/cauchy.h"

#include <stdlib.h>

#include "fields.h"

/* Tables of the elements with the fewest ones exist up to this width and this number of columns. */
enum { LIGHTEST_WIDTH = 11, LIGHTEST_COLUMNS = 1023 };

/* The number of ones in the bit matrix of x -> n x. */
int cauchy_n_ones(int n, int w) {
  gf_t *field = gfs_jerasure_field(w);
  uint32_t column = (uint32_t)n;
  int ones = 0;
  for (int x = 0; x < w; x++) {
    for (uint32_t left = column; left != 0; left &= left - 1)
      ones++;
    column = field->multiply(field, column, 2);
  }
  return ones;
}

static bool fits(int k, int m, int w) {
  return k >= 1 && m >= 1 && w >= 1 && (w >= 31 || (int64_t)k + m <= (int64_t)1 << w);
}

static int *new_matrix(int k, int m) { return malloc((size_t)k * (size_t)m * sizeof(int)); }

/* 1 / (i + (m + j)) */
int *cauchy_original_coding_matrix(int k, int m, int w) {
  int *made = fits(k, m, w) ? new_matrix(k, m) : NULL;
  for (int n = 0; made != NULL && n < k * m; n++)
    made[n] = galois_single_divide(1, n / k ^ (m + n % k), w);
  return made;
}

/* 1 / (x_i + y_j) */
int *cauchy_xy_coding_matrix(int k, int m, int w, int *x, int *y) {
  int *made = k < 1 || m < 1 ? NULL : new_matrix(k, m);
  for (int n = 0; made != NULL && n < k * m; n++)
    made[n] = galois_single_divide(1, x[n / k] ^ y[n % k], w);
  return made;
}

static void scale_row(int *row, int k, int factor, int w) {
  for (int j = 0; j < k; j++)
    row[j] = galois_single_multiply(row[j], factor, w);
}

static int ones_of_row(const int *row, int k, int factor, int w) {
  int ones = 0;
  for (int j = 0; j < k; j++)
    ones += cauchy_n_ones(galois_single_multiply(row[j], factor, w), w);
  return ones;
}

/* Divide a row by 1 or by one of its elements: the first that leaves the fewest ones. */
static void lighten(int *row, int k, int w) {
  int least = ones_of_row(row, k, 1, w), best = 1;
  for (int j = 0; j < k; j++) {
    int inverse = galois_inverse(row[j], w);
    int ones = row[j] == 1 ? least : ones_of_row(row, k, inverse, w);
    if (ones < least) {
      least = ones;
      best = inverse;
    }
  }
  scale_row(row, k, best, w);
}

/* Scale the columns so that the first row is 1, then lighten the other rows. */
void cauchy_improve_coding_matrix(int k, int m, int w, int *matrix) {
  for (int j = 0; j < k; j++) {
    int inverse = galois_inverse(matrix[j], w);
    for (int i = 0; i < m; i++)
      matrix[i * k + j] = galois_single_multiply(matrix[i * k + j], inverse, w);
  }
  for (int i = 1; i < m; i++)
    lighten(matrix + (size_t)i * (size_t)k, k, w);
}

/* A row of 1 and a row of the k elements with the fewest ones; if equal, the smaller element
 * first. */
static int *lightest(int k, int w) {
  int *made = new_matrix(k, 2), *ones = new_matrix(1 << w, 1), found = 0;
  for (int element = 1; ones != NULL && element < 1 << w; element++)
    ones[element] = cauchy_n_ones(element, w);
  for (int wanted = w; made != NULL && ones != NULL && found < k; wanted++)
    for (int element = 1; element < 1 << w && found < k; element++)
      if (ones[element] == wanted) {
        made[found] = 1;
        made[k + found++] = element;
      }
  if (ones == NULL) {
    free(made);
    return NULL;
  }
  free(ones);
  return made;
}

int *cauchy_good_general_coding_matrix(int k, int m, int w) {
  if (m == 2 && w >= 1 && w <= LIGHTEST_WIDTH && k >= 1 && k < 1 << w && k <= LIGHTEST_COLUMNS)
    return lightest(k, w);
  int *made = cauchy_original_coding_matrix(k, m, w);
  if (made != NULL)
    cauchy_improve_coding_matrix(k, m, w, made);
  return made;
}
