/* reference.h: byte-by-byte GF(2^8) and small helpers for the C tests, independent of the library.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* a * b modulo 0x11d, by shift and add. */
static inline uint8_t reference_mul(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1)
      product ^= a;
    a = a << 1 ^ (a & 0x80 ? 0x11d : 0);
  }
  return (uint8_t)product;
}

/* Returns all products; filled on first use, so the first call must be from one thread. */
static inline const uint8_t (*reference_products(void))[256] {
  static uint8_t products[256][256];
  static bool filled;
  for (unsigned a = 0; !filled && a < 256; a++)
    for (unsigned b = 0; b < 256; b++)
      products[a][b] = reference_mul(a, b);
  filled = true;
  return (const uint8_t(*)[256])products;
}

/* The element of ISA-L's gf_gen_cauchy1_matrix: 1 / ((k + i) ^ j), by search. */
static inline uint8_t reference_cauchy(unsigned k, unsigned i, unsigned j) {
  unsigned inverse = 1;
  while (reference_products()[inverse][(k + i) ^ j] != 1)
    inverse++;
  return (uint8_t)inverse;
}

/* parity[i] = sum over j of cauchy[i][j] * data[j]. */
static inline void reference_encode(unsigned k, unsigned m, size_t len, uint8_t *const *shards) {
  for (unsigned i = 0; i < m; i++) {
    for (size_t b = 0; b < len; b++)
      shards[k + i][b] = 0;
    for (unsigned j = 0; j < k; j++) {
      const uint8_t *product = reference_products()[reference_cauchy(k, i, j)];
      for (size_t b = 0; b < len; b++)
        shards[k + i][b] ^= product[shards[j][b]];
    }
  }
}

/* Returns the next number of a seeded stream (Knuth, TAOCP 3.3.4, the MMIX generator): the upper
 * half of the state. */
static inline unsigned reference_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(*state >> 33);
}

#define REQUIRE(condition)                                                                         \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#endif
