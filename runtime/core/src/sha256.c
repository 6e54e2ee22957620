#include "sha256.h"

#include <string.h>

enum { SHA256_BLOCK = 64, SHA256_WORDS = 8, SHA256_ROUNDS = 64 };

/* The first 32 bits of the fractional parts of the square roots of the first 8 primes and of the
 * cube roots of the first 64 primes (FIPS 180-4, 5.3.3 and 4.2.2); a test computes them. */
static const uint32_t sha256_start[SHA256_WORDS] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
static const uint32_t sha256_constants[SHA256_ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t sha256_rotated(uint32_t word, unsigned bits) {
  return word >> bits | word << (32 - bits);
}

static void sha256_expand(uint32_t schedule[SHA256_ROUNDS], const uint8_t *block) {
  for (unsigned t = 0; t < 16; t++, block += 4)
    schedule[t] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
                  (uint32_t)block[3];
  for (unsigned t = 16; t < SHA256_ROUNDS; t++) {
    uint32_t low = schedule[t - 15], high = schedule[t - 2];
    low = sha256_rotated(low, 7) ^ sha256_rotated(low, 18) ^ low >> 3;
    high = sha256_rotated(high, 17) ^ sha256_rotated(high, 19) ^ high >> 10;
    schedule[t] = schedule[t - 16] + low + schedule[t - 7] + high;
  }
}

/* FIPS 180-4, 6.2.2; s[0] to s[7] are a to h. */
static void sha256_compress(uint32_t state[SHA256_WORDS], const uint8_t *block) {
  uint32_t schedule[SHA256_ROUNDS];
  uint32_t s[SHA256_WORDS];
  sha256_expand(schedule, block);
  memcpy(s, state, sizeof s);
  for (unsigned t = 0; t < SHA256_ROUNDS; t++) {
    uint32_t mixed = sha256_rotated(s[4], 6) ^ sha256_rotated(s[4], 11) ^ sha256_rotated(s[4], 25);
    uint32_t first =
        s[7] + mixed + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_constants[t] + schedule[t];
    mixed = sha256_rotated(s[0], 2) ^ sha256_rotated(s[0], 13) ^ sha256_rotated(s[0], 22);
    uint32_t second = mixed + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += first;
    s[0] = first + second;
  }
  for (unsigned i = 0; i < SHA256_WORDS; i++)
    state[i] += s[i];
}

void gfs_sha256(const uint8_t *data, size_t size, uint8_t digest[GFS_SHA256_BYTES]) {
  uint32_t state[SHA256_WORDS];
  uint8_t last[2 * SHA256_BLOCK] = {0};
  size_t rest = size % SHA256_BLOCK;
  memcpy(state, sha256_start, sizeof state);
  for (size_t at = 0; at + SHA256_BLOCK <= size; at += SHA256_BLOCK)
    sha256_compress(state, data + at);

  /* The rest, a bit 1, zeros, and the number of bits in the last 8 bytes. */
  if (rest > 0)
    memcpy(last, data + (size - rest), rest);
  last[rest] = 0x80;
  size_t padded = rest < SHA256_BLOCK - 8 ? SHA256_BLOCK : 2 * SHA256_BLOCK;
  for (unsigned i = 0; i < 8; i++)
    last[padded - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
  for (size_t at = 0; at < padded; at += SHA256_BLOCK)
    sha256_compress(state, last + at);
  for (unsigned i = 0; i < GFS_SHA256_BYTES; i++)
    digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
