/* Encodes, damages, repairs and checks with every instruction set of this build that this CPU has,
 * and compares with products computed bit by bit. Prints the sets' names. */
#include "gfsmith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gfsmith_selftest(void);

enum { K = 10, M = 4, LEN = 1537, ODD = 3 };

static const char *const isas[] = {"gfni_avx512", "gfni_avx2", "avx512", "avx2",
                                   "gfni_sse",    "sse",       "neon",   "scalar"};

static unsigned product(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (; b; b >>= 1, a = a << 1 ^ (a & 0x80 ? 0x11d : 0))
    sum ^= b & 1 ? a : 0;
  return sum;
}

/* Parity i of a Cauchy code adds 1 / ((k + i) + j) times data shard j. */
static unsigned coefficient(unsigned i, unsigned j) {
  unsigned inverse = 1;
  while (product(inverse, (K + i) ^ j) != 1)
    inverse++;
  return inverse;
}

static int failed(const char *isa, const char *what) {
  fprintf(stderr, "%s: %s\n", isa, what);
  return 1;
}

static int test(const char *isa, uint8_t memory[K + M][LEN + ODD], uint8_t kept[K + M][LEN]) {
  uint8_t *shards[K + M];
  bool present[K + M], ok = false;
  for (unsigned i = 0; i < K + M; i++) {
    shards[i] = memory[i] + i % ODD;
    present[i] = i != 0 && i != 7 && i != 9 && i != 11;
    if (i < K)
      memcpy(shards[i], kept[i], LEN);
  }
  gfsmith_codec *codec;
  if (gfsmith_codec_create(&codec, "cauchy", K, M) != GFSMITH_OK)
    return failed(isa, "codec");
  if (gfsmith_encode(codec, LEN, (const uint8_t *const *)shards, shards + K) != GFSMITH_OK)
    return failed(isa, "encode");
  for (unsigned i = 0; i < M; i++)
    if (memcmp(shards[K + i], kept[K + i], LEN) != 0)
      return failed(isa, "wrong parity");
  for (unsigned i = 0; i < K + M; i++)
    if (!present[i])
      memset(shards[i], 0xa5, LEN);
  if (gfsmith_reconstruct(codec, LEN, shards, present, NULL) != GFSMITH_OK)
    return failed(isa, "reconstruct");
  for (unsigned i = 0; i < K + M; i++)
    if (memcmp(shards[i], kept[i], LEN) != 0)
      return failed(isa, "wrong repair");
  if (gfsmith_check(codec, LEN, (const uint8_t *const *)shards, &ok) != GFSMITH_OK || !ok)
    return failed(isa, "check");
  shards[3][LEN - 1] ^= 1;
  if (gfsmith_check(codec, LEN, (const uint8_t *const *)shards, &ok) != GFSMITH_OK || ok)
    return failed(isa, "damage was not detected");
  gfsmith_codec_destroy(codec);
  return 0;
}

int gfsmith_selftest(void) {
  static uint8_t memory[K + M][LEN + ODD], kept[K + M][LEN];
  uint32_t random = 1;
  for (unsigned j = 0; j < K; j++)
    for (unsigned n = 0; n < LEN; n++)
      kept[j][n] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
  for (unsigned i = 0; i < M; i++)
    for (unsigned j = 0; j < K; j++)
      for (unsigned n = 0, c = coefficient(i, j); n < LEN; n++)
        kept[K + i][n] ^= (uint8_t)product(c, kept[j][n]);
  for (size_t n = 0; n < sizeof isas / sizeof *isas; n++)
    if (gfsmith_set_isa(isas[n]) == GFSMITH_OK) {
      if (test(isas[n], memory, kept) != 0)
        return 1;
      printf("%s ", isas[n]);
    }
  puts("ok");
  return 0;
}
