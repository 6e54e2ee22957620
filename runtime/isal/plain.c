#include "plain.h"

#include <string.h>

#include "entry.h"

#define EVERY_BYTE UINT64_C(0x0101010101010101)

/* Each of eight bytes times c: the sum over b of its bit b times c x^b. */
static uint64_t product(unsigned c, uint64_t bytes) {
  uint64_t sum = 0;
  for (unsigned bit = 0; bit < 8; bit++) {
    sum ^= (bytes >> bit & EVERY_BYTE) * c;
    c = c << 1 ^ (c >> 7) * 0x11d;
  }
  return sum;
}

void gfs_isal_plain(size_t len, size_t inputs, const uint8_t *entries, const uint8_t *const *src,
                    uint8_t *dst, int add) {
  for (size_t at = 0, part; at < len; at += part) {
    part = len - at < 8 ? len - at : 8;
    uint64_t sum = 0;
    if (add)
      memcpy(&sum, dst + at, part);
    for (size_t j = 0; j < inputs; j++) {
      uint64_t bytes = 0;
      memcpy(&bytes, src[j] + at, part);
      sum ^= product(gfs_isal_coefficient(entries + j * GFS_ISAL_ENTRY), bytes);
    }
    memcpy(dst + at, &sum, part);
  }
}
