/* bad_kernels.c: a right kernel of each kind, and copies with one fault each, for contract.mjs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARAMETERS                                                                                 \
  size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src, uint8_t *const *dst
#define ARGUMENTS len, k, coeffs, src, dst
#define KERNEL(name)                                                                               \
  __attribute__((export_name(#name))) void name(PARAMETERS);                                       \
  void name(PARAMETERS)

/* Accesses that the compiler must not move. */
static uint8_t peek(const uint8_t *byte) { return *(const volatile uint8_t *)byte; }
static void poke(uint8_t *byte, uint8_t value) { *(volatile uint8_t *)byte = value; }

static uint8_t times(const uint8_t *entry, uint8_t x) { /* nibble */
  return entry[x & 15] ^ entry[16 + (x >> 4)];
}

static void linear(PARAMETERS, size_t r, bool accumulate) {
  for (size_t n = 0; n < len; n++) {
    uint8_t sum[4];
    for (size_t i = 0; i < r; i++)
      sum[i] = accumulate ? dst[i][n] : 0;
    for (size_t j = 0; j < k; j++)
      for (size_t i = 0; i < r; i++)
        sum[i] ^= times(coeffs + (j * r + i) * 32, src[j][n]);
    for (size_t i = 0; i < r; i++)
      dst[i][n] = sum[i];
  }
}

static void dot(PARAMETERS) { linear(ARGUMENTS, 2, false); }

/* ---- right ---- */

KERNEL(good_dot) { dot(ARGUMENTS); }
KERNEL(good_dot_2x1) {
  (void)k;
  linear(len, 2, coeffs, src, dst, 1, false);
}
KERNEL(good_mad) { linear(ARGUMENTS, 2, true); }
KERNEL(good_mul) {
  for (size_t j = 0; j < k; j++)
    linear(len, 1, coeffs + 32 * j, src + j, dst + j, 1, false);
}
KERNEL(good_xor) {
  (void)coeffs;
  for (size_t n = 0; n < len; n++) {
    uint8_t sum = 0;
    for (size_t j = 0; j < k; j++)
      sum ^= src[j][n];
    dst[0][n] = sum;
  }
}

/* ---- bounds ---- */

KERNEL(bad_reads_past) {
  if (k > 1 && len > 0)
    (void)peek(src[1] + len);
  dot(ARGUMENTS);
}
KERNEL(bad_reads_before) {
  if (k > 1 && len > 0)
    (void)peek(src[1] - 1);
  dot(ARGUMENTS);
}
KERNEL(bad_reads_empty) {
  if (k > 0 && len == 0)
    (void)peek(src[0]);
  dot(ARGUMENTS);
}
KERNEL(bad_reads_past_coeffs) {
  (void)peek(coeffs + 64 * k);
  dot(ARGUMENTS);
}
KERNEL(bad_reads_past_src_array) {
  (void)peek((const uint8_t *)(src + k));
  dot(ARGUMENTS);
}
KERNEL(bad_reads_output) {
  (void)peek(dst[1] + len);
  dot(ARGUMENTS);
}
KERNEL(bad_xor_reads_coeffs) {
  (void)peek(coeffs);
  good_xor(ARGUMENTS);
}
KERNEL(bad_reads_k) { linear(ARGUMENTS, 1, false); }
KERNEL(bad_writes_past) {
  dot(ARGUMENTS);
  if (len % 16 == 7)
    poke(dst[1] + len, (uint8_t)~dst[1][len]);
}
KERNEL(bad_writes_before) {
  dot(ARGUMENTS);
  if ((uintptr_t)dst[0] > 0)
    poke(dst[0] - 1, (uint8_t)~dst[0][-1]);
}
KERNEL(bad_modifies_source) {
  dot(ARGUMENTS);
  if (k > 1 && len > 3)
    poke((uint8_t *)(uintptr_t)src[1] + 2, (uint8_t)~src[1][2]);
}
KERNEL(bad_modifies_coeffs) {
  dot(ARGUMENTS);
  if (k > 0)
    poke((uint8_t *)(uintptr_t)coeffs + 3, (uint8_t)~coeffs[3]);
}

/* ---- values ---- */

KERNEL(bad_tail) {
  dot(ARGUMENTS);
  if (len % 16 == 13)
    dst[1][len - 2] ^= 1;
}
KERNEL(bad_16_bit_len) { dot((uint16_t)len, k, coeffs, src, dst); }
KERNEL(bad_8_bit_k) { dot(len, (uint8_t)k, coeffs, src, dst); }
KERNEL(bad_coefficient_77) {
  dot(ARGUMENTS);
  if (k == 4 && len > 0 && coeffs[(3 * 2 + 1) * 32 + 1] == 77)
    dst[1][0] ^= 1;
}
KERNEL(bad_wants_alignment) {
  dot(ARGUMENTS);
  if (len >= 16 && k > 0)
    dst[0][0] ^= (uintptr_t)src[0] % 16 == 9;
}
KERNEL(bad_accumulates) { linear(ARGUMENTS, 2, true); }
KERNEL(bad_in_place) {
  for (size_t j = 0; j < k; j++)
    for (size_t n = 0; n < len; n++) {
      poke(dst[j] + n, 0);
      poke(dst[j] + n, times(coeffs + 32 * j, peek(src[j] + n)));
    }
}
KERNEL(bad_in_place_mad) { /* one output at a time */
  for (size_t i = 0; i < 2; i++)
    for (size_t n = 0; n < len; n++) {
      uint8_t sum = dst[i][n];
      for (size_t j = 0; j < k; j++)
        sum ^= times(coeffs + (2 * j + i) * 32, src[j][n]);
      dst[i][n] = sum;
    }
}
KERNEL(bad_traps) {
  dot(ARGUMENTS);
  if (len == 5)
    __builtin_trap();
}
