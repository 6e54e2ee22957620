#include "kernels.h"

#include <stdbool.h>
#include <string.h>

fake_set_seen *fake_set_watcher;

enum { LINE = 64 };

typedef struct fake_set {
  bool rows;
  unsigned lines, outputs;
  const uint8_t *order; /* order of the lines */
} fake_set;

static const uint8_t in_order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static const uint8_t shuffled_4[8] = {2, 1, 3, 0};
static const uint8_t shuffled_8[8] = {4, 3, 5, 2, 6, 1, 7, 0};

/* Entries are 8 bytes: byte b is c * 2^b. */
static uint8_t product(const uint8_t *entry, uint8_t x) {
  uint8_t sum = 0;
  for (unsigned b = 0; b < 8; b++)
    sum ^= x >> b & 1 ? entry[b] : 0;
  return sum;
}

static void add(const fake_set *kernel, const uint8_t *coeffs, size_t source, const uint8_t *from,
                size_t bytes, uint8_t sums[8][LINE]) {
  for (unsigned i = 0; i < kernel->outputs; i++) {
    const uint8_t *entry = coeffs + (source * kernel->outputs + i) * 8;
    for (size_t b = 0; b < bytes; b++)
      sums[i][b] ^= product(entry, from[b]);
  }
}

/* One visit of the main loop. */
static void visit(unsigned source, const uint8_t *line, const uint8_t *asked) {
  if (fake_set_watcher != NULL)
    fake_set_watcher(source, line, asked);
}

static void turn(const fake_set *kernel, size_t at, size_t k, const uint8_t *coeffs,
                 const uint8_t *const *src, uint8_t *const *dst) {
  uint8_t sums[8][8][LINE] = {{{0}}}; /* by line and output */
  size_t visits = k * kernel->lines;
  for (size_t n = 0; n < visits; n++) {
    size_t source = kernel->rows ? n % k : n / kernel->lines;
    unsigned line = kernel->order[kernel->rows ? n / k : n % kernel->lines];
    const uint8_t *from = src[source] + at + (size_t)line * LINE;
    visit((unsigned)source, from, src[k + n] + at);
    add(kernel, coeffs, source, from, LINE, sums[line]);
  }
  for (unsigned line = 0; line < kernel->lines; line++)
    for (unsigned i = 0; i < kernel->outputs; i++)
      memcpy(dst[i] + at + (size_t)line * LINE, sums[line][i], LINE);
}

static void run(fake_set kernel, size_t len, size_t k, const uint8_t *coeffs,
                const uint8_t *const *src, uint8_t *const *dst) {
  size_t at = 0;
  for (; len - at >= (size_t)kernel.lines * LINE; at += (size_t)kernel.lines * LINE)
    turn(&kernel, at, k, coeffs, src, dst);
  for (size_t bytes; at < len; at += bytes) {
    uint8_t sums[8][LINE] = {{0}};
    bytes = len - at < LINE ? len - at : LINE;
    for (size_t source = 0; source < k; source++)
      add(&kernel, coeffs, source, src[source] + at, bytes, sums);
    for (unsigned i = 0; i < kernel.outputs; i++)
      memcpy(dst[i] + at, sums[i], bytes);
  }
}

#define IS_rows true
#define IS_together false
#define DEFINE(walk, shuffled, count, number, store)                                               \
  void FAKE_SET(walk, shuffled, count, number, store)(size_t len, size_t k, const uint8_t *coeffs, \
                                                      const uint8_t *const *src,                   \
                                                      uint8_t *const *dst) {                       \
    run((fake_set){.rows = IS_##walk,                                                              \
                   .lines = (count),                                                               \
                   .outputs = (number),                                                            \
                   .order = !(shuffled)    ? in_order                                              \
                            : (count) == 4 ? shuffled_4                                            \
                                           : shuffled_8},                                          \
        len, k, coeffs, src, dst);                                                                 \
  }
FAKE_SET_KERNELS(DEFINE)
