#include "solve.h"

#include <stddef.h>
#include <string.h>

/* row += factor * other, from column `start` on. */
static void add_multiple(const gfs_field *field, uint8_t *row, const uint8_t *other, uint8_t factor,
                         size_t start, size_t width) {
  if (factor == 0)
    return;
  for (size_t column = start; column < width; column++)
    row[column] ^= gfs_field_mul(field, factor, other[column]);
}

static void scale(const gfs_field *field, uint8_t *row, uint8_t factor, size_t width) {
  for (size_t column = 0; column < width; column++)
    row[column] = gfs_field_mul(field, factor, row[column]);
}

static void swap_rows(uint8_t *a, uint8_t *b, size_t width) {
  for (size_t column = 0; column < width; column++) {
    uint8_t kept = a[column];
    a[column] = b[column];
    b[column] = kept;
  }
}

/* Reduce the system so that in column `column` row `rank` is 1 and all others 0. False if rows
 * rank and below are 0 there: the column depends on earlier ones. */
static bool eliminate(const gfs_field *field, uint8_t *system, unsigned equations, size_t width,
                      unsigned rank, unsigned column) {
  unsigned pivot = rank;
  while (pivot < equations && system[pivot * width + column] == 0)
    pivot++;
  if (pivot == equations)
    return false;
  uint8_t *row = system + rank * width;
  if (pivot != rank)
    swap_rows(row, system + pivot * width, width);
  scale(field, row, gfs_field_inverse(field, row[column]), width);
  for (unsigned other = 0; other < equations; other++)
    if (other != rank)
      add_multiple(field, system + other * width, row, system[other * width + column], column,
                   width);
  return true;
}

bool gfs_solve(const gfs_field *field, unsigned equations, unsigned unknowns, unsigned targets,
               uint8_t *system, uint8_t *solution) {
  size_t width = (size_t)unknowns + targets;
  uint8_t pivot_of[256]; /* of row n < rank: its unknown */
  unsigned rank = 0;
  for (unsigned column = 0; column < unknowns && rank < equations; column++)
    if (eliminate(field, system, equations, width, rank, column))
      pivot_of[rank++] = (uint8_t)column;
  /* What is left says 0 = B. */
  for (unsigned row = rank; row < equations; row++)
    for (unsigned target = 0; target < targets; target++)
      if (system[row * width + unknowns + target] != 0)
        return false;
  memset(solution, 0, (size_t)unknowns * targets);
  for (unsigned row = 0; row < rank; row++)
    memcpy(solution + (size_t)pivot_of[row] * targets, system + row * width + unknowns, targets);
  return true;
}
