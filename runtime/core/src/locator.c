/* A sum over differences of points is a convolution over the group of points, because the
 * difference of two points is the XOR of their numbers. The transform of Walsh and Hadamard
 * computes it, modulo the order of the multiplicative group.
 *
 * Source: F. Didier, "Efficient erasure decoding of Reed-Solomon codes", 2009 (arXiv:0901.1886). */
#include "locator.h"

static void walsh(uint32_t modulus, unsigned n, uint32_t *a) {
  for (unsigned d = 1; d < n; d *= 2)
    for (unsigned at = 0; at < n; at += 2 * d)
      for (unsigned i = at; i < at + d; i++) {
        uint32_t x = a[i], y = a[i + d];
        a[i] = x + y < modulus ? x + y : x + y - modulus;
        a[i + d] = x >= y ? x - y : x + modulus - y;
      }
}

void gfs_locator(const gfs_cantor *field, unsigned n, const bool *unknown, uint32_t *logarithm,
                 uint32_t *work) {
  const uint32_t modulus = field->order - 1;
  for (unsigned i = 0; i < n; i++) {
    logarithm[i] = unknown[i];
    work[i] = i == 0 ? 0 : field->logarithm[i];
  }
  walsh(modulus, n, logarithm);
  walsh(modulus, n, work);
  for (unsigned i = 0; i < n; i++)
    logarithm[i] = (uint32_t)((uint64_t)logarithm[i] * work[i] % modulus);
  walsh(modulus, n, logarithm);
  /* A division by n, because order is 1. */
  for (unsigned i = 0; i < n; i++)
    logarithm[i] = (uint32_t)((uint64_t)logarithm[i] * (field->order / n) % modulus);
}
