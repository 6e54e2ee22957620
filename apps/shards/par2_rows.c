#include "par2_rows.h"

#include <errno.h>
#include <gfsmith_algebra.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "par2_field.h"
#include "par2_hash.h"
#include "report.h"

enum {
  LINE = 64,
  INPUTS = PAR2_LOADED, /* of a kernel call; with those of OUTPUTS fewer than 128 */
  OUTPUTS = 4,          /* of a kernel call: eight planes, one pass over the inputs */
  GROUPS = 256          /* groups of OUTPUTS that have tables at a time: at most 25 MiB */
};
/* Bytes of a plane that a task takes at a time: 2 * INPUTS of them stay in the second-level cache
 * while the task goes through the groups. */
enum { PIECE = 1024 };

static size_t part_of(size_t left, size_t most) { return left < most ? left : most; }

/* Planes begin PIECE + LINE bytes apart, modulo 4096, so that a piece of all of them is spread over
 * the sets of the caches. */
static size_t stride_for(size_t plane) { return (plane + 4095) / 4096 * 4096 + PIECE + LINE; }

int par2_rows_create(par2_rows *rows, size_t count, size_t most) {
  *rows = (par2_rows){.stride = stride_for(most / 2), .count = count};
  if (count < SIZE_MAX / 2 / rows->stride)
    rows->bytes = aligned_alloc(LINE, 2 * count * rows->stride);
  return rows->bytes != NULL ? TOOL_OK : refuse("out of memory");
}

size_t par2_rows_slice(uint64_t block, uint64_t count, uint64_t memory) {
  uint64_t most = memory / count / LINE * LINE, least = 2 * LINE;
  most = most < least ? least : most;
  return (size_t)(most < block ? most : block);
}

void par2_rows_clear(const par2_rows *rows) {
  memset(rows->bytes, 0, 2 * rows->count * rows->stride);
}

/* Split words into the planes of a row, from its byte `at`. */
static void split(const par2_rows *rows, size_t row, size_t at, const uint8_t *words, size_t size) {
  uint8_t *restrict low = rows->bytes + 2 * row * rows->stride + at / 2;
  uint8_t *restrict high = low + rows->stride;
  for (size_t i = 0; i < size / 2; i++) {
    low[i] = words[2 * i];
    high[i] = words[2 * i + 1];
  }
}

bool par2_rows_load(const par2_rows *rows, size_t row, size_t size, int fd, uint64_t start,
                    uint64_t present) {
  uint8_t piece[PAR2_PIECE];
  for (size_t at = 0, part; at < size; at += part) {
    part = part_of(size - at, PAR2_PIECE);
    uint64_t left = present > at ? present - at : 0;
    size_t there = left < part ? (size_t)left : part;
    errno = 0;
    if (there > 0 && read_at(fd, piece, there, start + at) != (ssize_t)there)
      return false;
    memset(piece + there, 0, part - there);
    split(rows, row, at, piece, part);
  }
  return true;
}

void par2_rows_join(const par2_rows *rows, size_t row, size_t at, uint8_t *restrict words,
                    size_t size) {
  const uint8_t *low = rows->bytes + 2 * row * rows->stride + at / 2;
  const uint8_t *high = low + rows->stride;
  for (size_t i = 0; i < size / 2; i++) {
    words[2 * i] = low[i];
    words[2 * i + 1] = high[i];
  }
}

/* The products of some inputs, of which groups of outputs take a part each. */
typedef struct addition {
  const par2_rows *out, *in;
  par2_coefficients *coefficient;
  const void *of;
  size_t first_input, inputs;
  size_t first_output, outputs;
  size_t plane; /* bytes */
  gfsmith_linear *groups[GROUPS];
} addition;

static size_t outputs_of(const addition *sum, size_t group) {
  return part_of(sum->outputs - group * OUTPUTS, OUTPUTS);
}

static void make_group(void *context, unsigned group) {
  addition *sum = context;
  uint16_t matrix[OUTPUTS * INPUTS];
  size_t outputs = outputs_of(sum, group);
  for (size_t i = 0; i < outputs; i++)
    for (size_t j = 0; j < sum->inputs; j++)
      matrix[i * sum->inputs + j] =
          sum->coefficient(sum->of, sum->first_output + group * OUTPUTS + i, sum->first_input + j);
  if (gfsmith_linear_create(&sum->groups[group], PAR2_POLYNOMIAL, (unsigned)sum->inputs,
                            (unsigned)outputs, matrix) != GFSMITH_OK)
    sum->groups[group] = NULL;
}

static uint8_t *plane_at(const par2_rows *rows, size_t plane, size_t at) {
  return rows->bytes + plane * rows->stride + at;
}

static void add_piece(void *context, unsigned piece) {
  const addition *sum = context;
  size_t at = (size_t)piece * PIECE, left = sum->plane - at;
  const uint8_t *from[2 * INPUTS];
  uint8_t *to[2 * OUTPUTS];
  for (size_t j = 0; j < 2 * sum->inputs; j++)
    from[j] = plane_at(sum->in, 2 * sum->first_input + j, at);
  for (size_t group = 0; group * OUTPUTS < sum->outputs; group++) {
    size_t first = sum->first_output + group * OUTPUTS;
    for (size_t i = 0; i < 2 * outputs_of(sum, group); i++)
      to[i] = plane_at(sum->out, 2 * first + i, at);
    gfsmith_linear_mad(sum->groups[group], part_of(left, PIECE), from, to);
  }
}

/* Add the inputs of a kernel call to the outputs that have tables at a time. */
static int add_part(const control *call, addition *sum) {
  unsigned groups = (unsigned)((sum->outputs + OUTPUTS - 1) / OUTPUTS);
  int status = TOOL_OK;
  control_run(call, groups, make_group, sum);
  for (unsigned group = 0; group < groups && status == TOOL_OK; group++)
    if (sum->groups[group] == NULL)
      status = refuse("out of memory");
  if (status == TOOL_OK)
    control_run(call, (unsigned)((sum->plane + PIECE - 1) / PIECE), add_piece, sum);
  for (unsigned group = 0; group < groups; group++)
    gfsmith_linear_destroy(sum->groups[group]);
  return status;
}

int par2_rows_add(const control *call, const par2_rows *out, const par2_rows *in, size_t inputs,
                  size_t size, par2_coefficients *coefficient, const void *of) {
  addition sum = {.out = out, .in = in, .coefficient = coefficient, .of = of, .plane = size / 2};
  int status = TOOL_OK;
  for (size_t j = 0; j < inputs; j += INPUTS)
    for (size_t i = 0; i < out->count && status == TOOL_OK; i += (size_t)GROUPS * OUTPUTS) {
      sum.first_input = j;
      sum.inputs = part_of(inputs - j, INPUTS);
      sum.first_output = i;
      sum.outputs = part_of(out->count - i, (size_t)GROUPS * OUTPUTS);
      status = report_interrupted() ? TOOL_REFUSED : add_part(call, &sum);
    }
  return status;
}
