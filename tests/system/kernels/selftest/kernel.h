/* kernel.h: macros that define the kernels of the self-test.
 *
 * On x86-64 every kernel exists for both ABIs, from one body. Accesses that a compiler could drop
 * or move are volatile. */
#ifndef GFSMITH_TEST_SELFTEST_KERNEL_H
#define GFSMITH_TEST_SELFTEST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARAMETERS                                                                                 \
  size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src, uint8_t *const *dst
#ifdef __x86_64__
#define MICROSOFT(name)                                                                            \
  __attribute__((ms_abi)) void name##_ms(PARAMETERS);                                              \
  __attribute__((ms_abi)) void name##_ms(PARAMETERS) { name##_body(len, k, coeffs, src, dst); }
#else
#define MICROSOFT(name)
#endif
#define KERNEL(name)                                                                               \
  static inline __attribute__((always_inline)) void name##_body(PARAMETERS);                       \
  void name(PARAMETERS);                                                                           \
  void name(PARAMETERS) { name##_body(len, k, coeffs, src, dst); }                                 \
  MICROSOFT(name)                                                                                  \
  static inline void name##_body(PARAMETERS)

static inline uint8_t read(const uint8_t *byte) { return *(const volatile uint8_t *)byte; }

static inline void write(uint8_t *byte, uint8_t value) { *(volatile uint8_t *)byte = value; }

static inline bool at_page(const uint8_t *address) { return (uintptr_t)address % 4096 == 0; }

static inline uint8_t multiply(uint8_t c, uint8_t x, uint8_t reduction) { /* one bit at a time */
  uint8_t y = 0;
  for (int b = 7; b >= 0; b--) {
    y = (uint8_t)(y << 1 ^ (y >> 7) * reduction ^ (x >> b & 1) * c);
  }
  return y;
}

#endif
