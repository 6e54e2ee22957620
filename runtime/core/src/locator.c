/* A sum over differences of points is a convolution over the group of points, because the
 * difference of two points is the XOR of their numbers. The transform of Walsh and Hadamard
 * computes it, modulo the order of the multiplicative group, which is a power of two less 1.
 *
 * Source: F. Didier, "Efficient erasure decoding of Reed-Solomon codes", 2009 (arXiv:0901.1886). */
#include "locator.h"

/* x modulo 2^width - 1, for x below the square of 2^width. */
static uint32_t residue(unsigned width, uint32_t x) {
  const uint32_t modulus = (UINT32_C(1) << width) - 1;
  x = (x & modulus) + (x >> width);
  x = (x & modulus) + (x >> width);
  return x == modulus ? 0 : x;
}

enum { ABREAST = 4 /* numbers that a compiler can make a vector of */ };

/* Butterflies of x and y, whose numbers are at most `most`. */
static inline void butterflies_of(unsigned count, uint32_t *restrict x, uint32_t *restrict y,
                                  uint32_t most) {
  for (unsigned i = 0; i < count; i++) {
    const uint32_t a = x[i], b = y[i];
    x[i] = a + b;
    y[i] = a + (most - b);
  }
}

/* The last two layers of four numbers. */
static inline void last_layers(uint32_t *a, uint32_t most) {
  const uint32_t p = a[0] + a[2], q = a[1] + a[3];
  const uint32_t r = a[0] + (most - a[2]), s = a[1] + (most - a[3]);
  a[0] = p + q;
  a[1] = p + (2 * most - q);
  a[2] = r + s;
  a[3] = r + (2 * most - s);
}

static inline void residues_of(unsigned count, unsigned width, uint32_t *a) {
  for (unsigned i = 0; i < count; i++)
    a[i] = residue(width, a[i]);
}

static void all_residues(unsigned n, unsigned width, uint32_t *a) {
  unsigned i = 0;
  for (; i + ABREAST <= n; i += ABREAST)
    residues_of(ABREAST, width, a + i);
  residues_of(n - i, width, a + i);
}

/* Numbers up to the modulus, whose residues replace them. In between they are at most n times as
 * large, so they have 32 bits: n <= 2^width <= 2^16. */
static void walsh(unsigned width, unsigned n, uint32_t *a) {
  uint32_t most = (UINT32_C(1) << width) - 1;
  for (unsigned d = n / 2; d >= ABREAST; d /= 2, most *= 2)
    for (unsigned at = 0; at < n; at += 2 * d)
      for (unsigned i = at; i < at + d; i += ABREAST)
        butterflies_of(ABREAST, a + i, a + i + d, most);
  for (unsigned i = 0; i + ABREAST <= n; i += ABREAST)
    last_layers(a + i, most);
  if (n == 2)
    butterflies_of(1, a, a + 1, most);
  all_residues(n, width, a);
}

static unsigned field_width(const gfs_cantor *field) {
  unsigned width = 0;
  while (1u << width < field->order)
    width++;
  return width;
}

void gfs_locator_prepare(const gfs_cantor *field, unsigned most, uint32_t *spectra) {
  for (unsigned n = 1; n <= most; n *= 2) {
    for (unsigned i = 0; i < n; i++)
      spectra[n + i] = i == 0 ? 0 : field->logarithm[i];
    walsh(field_width(field), n, spectra + n);
  }
}

void gfs_locator(const gfs_cantor *field, unsigned n, const uint32_t *spectra, const bool *unknown,
                 uint32_t *logarithm) {
  const unsigned width = field_width(field);
  for (unsigned i = 0; i < n; i++)
    logarithm[i] = unknown[i];
  walsh(width, n, logarithm);
  for (unsigned i = 0; i < n; i++)
    logarithm[i] *= spectra[n + i];
  all_residues(n, width, logarithm);
  walsh(width, n, logarithm);
  /* A division by n, because order is 1. */
  for (unsigned i = 0; i < n; i++)
    logarithm[i] *= field->order / n;
  all_residues(n, width, logarithm);
}
