#include "par2_field.h"

#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "report.h"

void par2_field_fill(par2_field *field) {
  unsigned element = 1;
  memset(field, 0, sizeof *field);
  for (unsigned n = 0; n < PAR2_ORDER; n++) {
    field->power[n] = (uint16_t)element;
    field->log[element] = (uint16_t)n;
    element <<= 1;
    if (element > PAR2_ORDER)
      element ^= PAR2_POLYNOMIAL;
  }
}

void par2_constants(uint16_t *logs, size_t count) {
  unsigned log = 0;
  for (size_t n = 0; n < count; log++)
    if (log % 3 != 0 && log % 5 != 0 && log % 17 != 0 && log % 257 != 0)
      logs[n++] = (uint16_t)log;
}

static uint16_t product(const par2_field *field, unsigned a, unsigned b) {
  return a == 0 || b == 0 ? 0 : field->power[(field->log[a] + field->log[b]) % PAR2_ORDER];
}

/* The products of a constant by every low byte and by every high byte. */
typedef struct byte_products {
  uint16_t low[256], high[256];
} byte_products;

static void fill_products(const par2_field *field, unsigned constant, byte_products *of) {
  for (unsigned b = 0; b < 256; b++) {
    of->low[b] = product(field, constant, b);
    of->high[b] = product(field, constant, b << 8);
  }
}

static uint16_t times(const byte_products *of, unsigned word) {
  return of->low[word & 0xff] ^ of->high[word >> 8];
}

/* A step of the elimination: a column, and the row that determines it. */
typedef struct elimination {
  const par2_field *field;
  uint16_t *matrix;
  size_t rows, columns;
  size_t column, pivot;
} elimination;

enum { ROWS_OF_TASK = 16 };

/* The row of the pivot leaves the others, and its own column takes the pivot's inverse: the matrix
 * becomes its inverse in place. */
static void eliminate_row(const elimination *step, size_t row) {
  uint16_t *to = step->matrix + row * step->columns;
  const uint16_t *from = step->matrix + step->pivot * step->columns;
  unsigned factor = to[step->column];
  if (row == step->pivot || factor == 0)
    return;
  byte_products of;
  fill_products(step->field, factor, &of);
  to[step->column] = 0;
  for (size_t c = 0; c < step->columns; c++)
    to[c] ^= times(&of, from[c]);
}

static void eliminate_rows(void *context, unsigned task) {
  const elimination *step = context;
  size_t first = (size_t)task * ROWS_OF_TASK, end = first + ROWS_OF_TASK;
  for (size_t row = first; row < end && row < step->rows; row++)
    eliminate_row(step, row);
}

static void scale_pivot(const elimination *step) {
  uint16_t *row = step->matrix + step->pivot * step->columns;
  unsigned log = step->field->log[row[step->column]];
  byte_products of;
  fill_products(step->field, step->field->power[(PAR2_ORDER - log) % PAR2_ORDER], &of);
  row[step->column] = 1;
  for (size_t c = 0; c < step->columns; c++)
    row[c] = times(&of, row[c]);
}

/* The first row that is not yet a pivot and has the column; `rows` if there is none. */
static size_t find_pivot(const elimination *step, const bool *used) {
  for (size_t row = 0; row < step->rows; row++)
    if (!used[row] && step->matrix[row * step->columns + step->column] != 0)
      return row;
  return step->rows;
}

bool par2_invert(const par2_field *field, const control *call, uint16_t *matrix, size_t rows,
                 size_t columns, size_t *pivot) {
  elimination step = {field, matrix, rows, columns, 0, 0};
  bool *used = must_alloc(rows, sizeof *used);
  for (; step.column < columns && !report_interrupted(); step.column++) {
    step.pivot = find_pivot(&step, used);
    if (step.pivot == rows)
      break;
    used[step.pivot] = true;
    pivot[step.column] = step.pivot;
    scale_pivot(&step);
    control_run(call, (unsigned)((rows + ROWS_OF_TASK - 1) / ROWS_OF_TASK), eliminate_rows, &step);
  }
  free(used);
  return step.column == columns;
}
