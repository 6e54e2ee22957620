/* bad_kernels.c: right kernels, and copies of them with one fault each.
 *
 * These have run-time coefficients; those of bad_baked.c know them. */
#include "kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static uint8_t times(const uint8_t *entry, uint8_t x) { /* bitplane */
  uint8_t y = 0;
  for (unsigned b = 0; b < 8; b++) {
    y ^= (uint8_t)(entry[b] & -(x >> b & 1));
  }
  return y;
}

static uint8_t times_affine(const uint8_t *entry, uint8_t x) {
  uint8_t y = 0;
  for (unsigned i = 0; i < 8; i++) {
    y |= (uint8_t)(__builtin_parity(entry[7 - i] & x) << i);
  }
  return y;
}

static uint8_t times_nibble(const uint8_t *entry, uint8_t x) {
  return entry[x & 15] ^ entry[16 + (x >> 4)];
}

static uint8_t times_mulb(const uint8_t *entry, uint8_t x) { return multiply(entry[0], x, 0x1b); }

typedef uint8_t product(const uint8_t *entry, uint8_t x);

static void linear(PARAMETERS, size_t r, product *times_by, size_t entry, bool accumulate) {
  for (size_t n = 0; n < len; n++) {
    uint8_t sum[4];
    for (size_t i = 0; i < r; i++) {
      sum[i] = accumulate ? dst[i][n] : 0;
    }
    for (size_t j = 0; j < k; j++) {
      for (size_t i = 0; i < r; i++) {
        sum[i] ^= times_by(coeffs + (j * r + i) * entry, src[j][n]);
      }
    }
    for (size_t i = 0; i < r; i++) {
      dst[i][n] = sum[i];
    }
  }
}

static void dot(PARAMETERS) { linear(len, k, coeffs, src, dst, 2, times, 8, false); }

/* ---- right ---- */

KERNEL(good_dot) { dot(len, k, coeffs, src, dst); }
KERNEL(good_dot_2x1) {
  (void)k;
  linear(len, 2, coeffs, src, dst, 1, times, 8, false);
}
KERNEL(good_mad) { linear(len, k, coeffs, src, dst, 2, times, 8, true); }
KERNEL(good_mul) {
  for (size_t j = 0; j < k; j++) {
    linear(len, 1, coeffs + 8 * j, src + j, dst + j, 1, times, 8, false);
  }
}
KERNEL(good_xor) {
  (void)coeffs;
  for (size_t n = 0; n < len; n++) {
    uint8_t sum = 0;
    for (size_t j = 0; j < k; j++) {
      sum ^= src[j][n];
    }
    dst[0][n] = sum;
  }
}
KERNEL(good_affine) { linear(len, k, coeffs, src, dst, 2, times_affine, 8, false); }
KERNEL(good_nibble) { linear(len, k, coeffs, src, dst, 2, times_nibble, 32, false); }
KERNEL(good_mulb) { linear(len, k, coeffs, src, dst, 2, times_mulb, 8, false); }

/* ---- bounds ---- */

KERNEL(bad_reads_past) {
  if (k > 1 && len > 0) {
    (void)read(src[1] + len);
  }
  dot(len, k, coeffs, src, dst);
}
KERNEL(bad_reads_before) {
  if (k > 1 && len > 0) {
    (void)read(src[1] - 1);
  }
  dot(len, k, coeffs, src, dst);
}
KERNEL(bad_reads_empty) {
  if (k > 0 && len == 0) {
    (void)read(src[0]);
  }
  dot(len, k, coeffs, src, dst);
}
KERNEL(bad_reads_past_coeffs) {
  (void)read(coeffs + 16 * k);
  dot(len, k, coeffs, src, dst);
}
/* A kernel may read the prefetch pointers, two for each source, but they may point anywhere. */
static void pipelined(PARAMETERS, size_t pointers) {
  for (size_t at = 0; len - at >= 128; at += 128) {
    for (size_t n = 0; n < pointers; n++) {
      __builtin_prefetch(*(const uint8_t *const volatile *)&src[k + n]);
    }
  }
  dot(len, k, coeffs, src, dst);
}

KERNEL(good_pipelined__scalar_u16) { pipelined(len, k, coeffs, src, dst, 2 * k); }
KERNEL(bad_reads_past_ahead__scalar_u16) { pipelined(len, k, coeffs, src, dst, 2 * k + 1); }
KERNEL(bad_reads_ahead__scalar_u16) {
  for (size_t n = 0; n < 2 * k; n++) {
    (void)*(const volatile uint8_t *)src[k + n];
  }
  dot(len, k, coeffs, src, dst);
}

KERNEL(bad_reads_past_src_array) {
  (void)read((const uint8_t *)(src + k));
  dot(len, k, coeffs, src, dst);
}
KERNEL(bad_writes_past) {
  dot(len, k, coeffs, src, dst);
  write(dst[1] + len, 0);
}
KERNEL(bad_writes_before) {
  dot(len, k, coeffs, src, dst);
  if (at_page(dst[1]) && len > 0) {
    write(dst[1] - 1, 0);
  }
}
KERNEL(bad_writes_past_in_page) {
  dot(len, k, coeffs, src, dst);
  if (!at_page(dst[1] + len)) {
    write(dst[1] + len, (uint8_t)~dst[1][len]);
  }
}
KERNEL(bad_writes_before_in_page) {
  dot(len, k, coeffs, src, dst);
  if (!at_page(dst[0])) {
    write(dst[0] - 1, (uint8_t)~dst[0][-1]);
  }
}

/* ---- values ---- */

KERNEL(bad_tail) {
  dot(len, k, coeffs, src, dst);
  if (len % 8 == 5) {
    dst[1][len - 2] ^= 1;
  }
}
KERNEL(bad_above_256) {
  dot(len, k, coeffs, src, dst);
  if (len > 256) {
    dst[0][256] ^= 0x80;
  }
}
KERNEL(bad_16_bit_len) { dot((uint16_t)len, k, coeffs, src, dst); }
KERNEL(bad_36_sources) { dot(len, k < 36 ? k : 35, coeffs, src, dst); }
KERNEL(bad_8_bit_k) { dot(len, (uint8_t)k, coeffs, src, dst); }
KERNEL(bad_ignores_last_output) {
  uint8_t *const twice[2] = {dst[0], dst[0]};
  linear(len, k, coeffs, src, twice, 2, times, 8, false);
}
KERNEL(bad_coefficient_77) {
  dot(len, k, coeffs, src, dst);
  if (k == 4 && len > 0 && coeffs[(3 * 2 + 1) * 8] == 77) {
    dst[1][0] ^= 1;
  }
}
KERNEL(bad_accumulates) { linear(len, k, coeffs, src, dst, 2, times, 8, true); }
KERNEL(bad_reads_k) { linear(len, k, coeffs, src, dst, 1, times, 8, false); }
KERNEL(bad_in_place) {
  for (size_t j = 0; j < k; j++) {
    for (size_t n = 0; n < len; n++) {
      write(dst[j] + n, 0);
      write(dst[j] + n, times(coeffs + 8 * j, read(src[j] + n)));
    }
  }
}
KERNEL(bad_in_place_mad) { /* one output at a time */
  for (size_t i = 0; i < 2; i++) {
    for (size_t n = 0; n < len; n++) {
      uint8_t sum = dst[i][n];
      for (size_t j = 0; j < k; j++) {
        sum ^= times(coeffs + (2 * j + i) * 8, src[j][n]);
      }
      dst[i][n] = sum;
    }
  }
}
KERNEL(bad_modifies_source) {
  dot(len, k, coeffs, src, dst);
  if (k > 1 && len > 3) {
    uint8_t *byte = (uint8_t *)(uintptr_t)src[1] + 2;
    write(byte, (uint8_t)~*byte);
  }
}
KERNEL(bad_modifies_coeffs) {
  dot(len, k, coeffs, src, dst);
  if (k > 0) {
    write((uint8_t *)(uintptr_t)coeffs + 3, (uint8_t)~coeffs[3]);
  }
}
KERNEL(bad_modifies_array) {
  dot(len, k, coeffs, src, dst);
  *(uint8_t *volatile *)(uintptr_t)&dst[1] = dst[1] + len + 1;
}

/* ---- behaviour ---- */

KERNEL(bad_branches_on_coefficient) {
  for (size_t n = 0; n < len; n++) {
    for (size_t i = 0; i < 2; i++) {
      uint8_t sum = 0;
      for (size_t j = 0; j < k; j++) {
        const uint8_t *entry = coeffs + (2 * j + i) * 8;
        if (read(entry) != 0) {
          sum ^= times(entry, read(src[j] + n));
        }
      }
      dst[i][n] = sum;
    }
  }
}
KERNEL(bad_never_returns) {
  dot(len, k, coeffs, src, dst);
  for (volatile bool wait = true; wait;) {
  }
}
KERNEL(bad_xor_reads_coeffs) {
  good_xor_body(len, k, coeffs, src, dst);
  (void)read(coeffs);
}
