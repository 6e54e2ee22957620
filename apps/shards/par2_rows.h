/* Rows of words of GF(2^16), as planes of low and high bytes, and sums of their products. */
#ifndef TOOL_PAR2_ROWS_H
#define TOOL_PAR2_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"

/* Rows that are in memory at a time as inputs of a sum: those of one kernel call. */
enum { PAR2_LOADED = 96 };

/* Row i: the plane of low bytes at bytes + 2 i * stride, that of high bytes behind it. */
typedef struct par2_rows {
  uint8_t *bytes;
  size_t stride; /* bytes between planes */
  size_t count;
} par2_rows;

/* Allocate rows for up to `most` bytes each. Free rows->bytes. TOOL_REFUSED after a message. */
int par2_rows_create(par2_rows *rows, size_t count, size_t most);
/* The most bytes of a row so that `count` rows fit in `memory` bytes, at most `block`. */
size_t par2_rows_slice(uint64_t block, uint64_t count, uint64_t memory);

/* Set all bytes of the rows to 0. */
void par2_rows_clear(const par2_rows *rows);
/* Read `size` bytes of a row from a file: the first `present` of them are there, and the others
 * are 0. False and errno (0: the file ends before) if they cannot be read. */
bool par2_rows_load(const par2_rows *rows, size_t row, size_t size, int fd, uint64_t start,
                    uint64_t present);
/* The words at the bytes `at` to at + size of a row; both even. */
void par2_rows_join(const par2_rows *rows, size_t row, size_t at, uint8_t *words, size_t size);

/* The coefficient of an input in an output. */
typedef uint16_t par2_coefficients(const void *of, size_t output, size_t input);

/* out[i] += sum over j < inputs of coefficient(of, i, j) * in[j], on `size` bytes of each row.
 * TOOL_REFUSED after a message. */
int par2_rows_add(const control *call, const par2_rows *out, const par2_rows *in, size_t inputs,
                  size_t size, par2_coefficients *coefficient, const void *of);

#endif
