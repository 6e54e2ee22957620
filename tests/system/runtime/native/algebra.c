/* algebra: every function of gfsmith_algebra.h on random data, and a digest of each result. The
 * output must be equal on every machine and instruction set, and the branches taken must be equal
 * for every seed. Arguments: instruction set, "" for the automatic choice; a seed; "leak" to branch
 * on data. */
#include "gfsmith_algebra.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

enum { BYTES = 3 * 512, LEN = 1003, PAIRS = 3 };

static uint8_t a[BYTES], b[BYTES], out[BYTES], modulus[32];
static const unsigned fields[] = {0x11b, 0x11d, 0x1f5};

/* FNV-1a, 64 bits; constant time. */
static void print_digest(const char *name, unsigned field) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t n = 0; n < BYTES; n++)
    hash = (hash ^ out[n]) * UINT64_C(0x100000001b3);
  printf("%s %#x ", name, field);
  for (unsigned shift = 0; shift < 64; shift += 4)
    putchar("abcdefghijklmnop"[hash >> shift & 15]);
  putchar('\n');
}

static void refill(uint64_t *seed) {
  for (size_t n = 0; n < BYTES; n++) {
    a[n] = (uint8_t)reference_random(seed);
    b[n] = (uint8_t)reference_random(seed);
    out[n] = 0;
  }
  for (size_t n = 0; n < sizeof modulus; n++)
    modulus[n] = (uint8_t)reference_random(seed);
}

static void in_field(unsigned field, uint64_t *seed) {
  refill(seed);
  REQUIRE(gfsmith_multiply(field, LEN, a, b, out) == GFSMITH_OK);
  print_digest("multiply", field);
  REQUIRE(gfsmith_invert(field, LEN, a, out) == GFSMITH_OK);
  print_digest("invert", field);
  for (unsigned degree = 8; degree <= 32; degree *= 2) {
    REQUIRE(gfsmith_multiply_polynomials(field, degree, PAIRS, a, b, modulus, out) == GFSMITH_OK);
    print_digest("polynomials", field);
  }
}

/* Rows are numbers, so the digest does not depend on byte order. */
static void matrices64(uint64_t *seed) {
  static uint64_t left[PAIRS * 64], right[PAIRS * 64], product[PAIRS * 64];
  for (unsigned n = 0; n < PAIRS * 64; n++) {
    left[n] = (uint64_t)reference_random(seed) << 32 ^ reference_random(seed);
    right[n] = (uint64_t)reference_random(seed) << 32 ^ reference_random(seed);
  }
  REQUIRE(gfsmith_multiply_matrices64(PAIRS, left, right, product) == GFSMITH_OK);
  for (unsigned n = 0; n < sizeof product; n++)
    out[n] = (uint8_t)(product[n / 8] >> n % 8 * 8);
  print_digest("matrices64", 64);
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  if (argc > 1 && argv[1][0] != '\0')
    REQUIRE(gfsmith_set_isa(argv[1]) == GFSMITH_OK);
  for (unsigned n = 0; n < sizeof fields / sizeof fields[0]; n++)
    in_field(fields[n], &seed);
  REQUIRE(gfsmith_multiply_matrices8(LEN / 8, a, b, out) == GFSMITH_OK);
  print_digest("matrices8", 8);
  matrices64(&seed);
  if (argc > 3 && strcmp(argv[3], "leak") == 0)
    for (size_t n = 0; n < BYTES; n++)
      if (a[n] & 1)
        putchar('.');
  return 0;
}
