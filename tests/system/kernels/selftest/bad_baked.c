/* bad_baked.c: kernels that know their matrix, right ones and copies with one fault each. */
#include "kernel.h"

#include <stddef.h>
#include <stdint.h>

typedef uint8_t matrix[2][3];
static const matrix right = {{1, 142, 0}, {77, 3, 255}}; /* as in matrices.inc */

static void baked(size_t len, size_t k, const uint8_t *const *src, uint8_t *const *dst,
                  const matrix rows) {
  for (size_t n = 0; n < len; n++) {
    for (size_t i = 0; i < 2; i++) {
      uint8_t sum = 0;
      for (size_t j = 0; j < k; j++) {
        sum ^= multiply(rows[i][j % 3], src[j][n], 0x1d);
      }
      dst[i][n] = sum;
    }
  }
}

static void right_baked(size_t len, const uint8_t *const *src, uint8_t *const *dst) {
  baked(len, 3, src, dst, right);
}

KERNEL(good_baked__scalar_u1) {
  (void)k, (void)coeffs;
  right_baked(len, src, dst);
}
KERNEL(good_baked__scalar_nibble_u2_p512t0) {
  (void)k, (void)coeffs;
  right_baked(len, src, dst);
}
KERNEL(bad_baked_coefficient__scalar_u1) {
  (void)k, (void)coeffs;
  static const matrix wrong = {{1, 142, 0}, {77, 2, 255}};
  baked(len, 3, src, dst, wrong);
}
KERNEL(bad_baked_rows__scalar_u1) { /* in the wrong order */
  (void)k, (void)coeffs;
  uint8_t *const crossed[2] = {dst[1], dst[0]};
  right_baked(len, src, crossed);
}
KERNEL(bad_baked_writes_past__scalar_u1) {
  (void)k, (void)coeffs;
  right_baked(len, src, dst);
  write(dst[1] + len, 0);
}
KERNEL(bad_baked_writes_past_in_page__scalar_u1) {
  (void)k, (void)coeffs;
  right_baked(len, src, dst);
  if (!at_page(dst[1] + len)) {
    write(dst[1] + len, (uint8_t)~dst[1][len]);
  }
}
KERNEL(bad_baked_reads_past__scalar_u1) {
  (void)k, (void)coeffs;
  right_baked(len, src, dst);
  (void)read(src[2] + len);
}
KERNEL(bad_baked_tail) { /* beyond three iterations of the largest block */
  (void)k, (void)coeffs;
  right_baked(len, src, dst);
  if (len == 4 * 64 + 3) {
    write(dst[0] + len - 1, (uint8_t)~dst[0][len - 1]);
  }
}
KERNEL(bad_baked_reads_coeffs__scalar_u1) {
  (void)k;
  right_baked(len, src, dst);
  (void)read(coeffs);
}
KERNEL(bad_baked_follows_coeffs__scalar_u1) { /* unless it is NULL or a non-canonical address */
  (void)k;
  right_baked(len, src, dst);
  if (coeffs != NULL && (uintptr_t)coeffs >> 47 == 0) {
    (void)read(coeffs);
  }
}
KERNEL(bad_baked_reads_k__scalar_u1) {
  (void)coeffs;
  baked(len, k, src, dst, right);
}
