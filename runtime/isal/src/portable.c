#include "portable.h"

#include <string.h>

#include "table_entries.h"

#define EVERY_BYTE UINT64_C(0x0101010101010101)

enum { WORDS = 8 };

/* sum += c times every byte: the sum over b of its bit b times c x^b. */
static void add_product(uint64_t *sum, unsigned c, const uint64_t *bytes) {
  for (unsigned bit = 0; bit < 8; bit++) {
    for (unsigned n = 0; n < WORDS; n++)
      sum[n] ^= (bytes[n] >> bit & EVERY_BYTE) * c;
    c = c << 1 ^ (c >> 7) * 0x11d;
  }
}

void gfs_isal_plain(size_t len, size_t inputs, const uint8_t *entries, const uint8_t *const *src,
                    uint8_t *dst, int add) {
  for (size_t at = 0, part; at < len; at += part) {
    uint64_t sum[WORDS] = {0}, bytes[WORDS] = {0};
    part = len - at < sizeof sum ? len - at : sizeof sum;
    if (add)
      memcpy(sum, dst + at, part);
    for (size_t j = 0; j < inputs; j++) {
      memcpy(bytes, src[j] + at, part);
      add_product(sum, gfs_isal_coefficient(entries + j * GFS_ISAL_ENTRY), bytes);
    }
    memcpy(dst + at, sum, part);
  }
}

void gfs_isal_plain_output(const gfs_isal_call *call, gfs_operation operation, size_t output) {
  const uint8_t *entries = call->entries + output * call->stride * GFS_ISAL_ENTRY;
  gfs_isal_plain(call->len, call->inputs, entries, call->src, call->dst[output],
                 operation == GFS_OPERATION_mad);
}
