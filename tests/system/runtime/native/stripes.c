/* stripes: encode, lose, repair, check and update with many codes, and print a digest of all shards
 * after each. The output must be equal on every machine and instruction set. Argument: instruction
 * set; "" for the automatic choice. */
#include <inttypes.h>
#include <string.h>

#include "gfsmith.h"
#include "reference.h"

enum { SHARDS_MAX = 40, LEN_MAX = 4099 };

static uint8_t memory[SHARDS_MAX][LEN_MAX], before[SHARDS_MAX][LEN_MAX], delta[LEN_MAX];
static uint8_t *shards[SHARDS_MAX];
static const uint8_t *in[SHARDS_MAX];

/* FNV-1a, 64 bits. */
static uint64_t digest(unsigned count, size_t len) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (unsigned i = 0; i < count; i++)
    for (size_t b = 0; b < len; b++)
      hash = (hash ^ memory[i][b]) * UINT64_C(0x100000001b3);
  return hash;
}

static void lose_and_repair(const gfsmith_codec *codec, unsigned k, unsigned m, size_t len,
                            uint64_t *seed) {
  bool present[SHARDS_MAX];
  memcpy(before, memory, sizeof memory);
  for (unsigned i = 0; i < k + m; i++)
    present[i] = true;
  for (unsigned lost = 0; lost < m;) {
    unsigned i = reference_random(seed) % (k + m);
    lost += present[i];
    present[i] = false;
    memset(memory[i], 0xee, len);
  }
  REQUIRE(gfsmith_reconstruct(codec, len, shards, present, NULL) == GFSMITH_OK);
  REQUIRE(memcmp(memory, before, sizeof memory) == 0);
}

static void stripe(const char *code, unsigned k, unsigned m, size_t len, gfsmith_hint hint,
                   size_t packet) {
  uint64_t seed = 1000 * k + m;
  gfsmith_codec *codec;
  bool ok = false;
  memset(memory, 0, sizeof memory);
  for (unsigned j = 0; j < k; j++)
    for (size_t b = 0; b < len; b++)
      memory[j][b] = (uint8_t)reference_random(&seed);
  REQUIRE(gfsmith_codec_create(&codec, code, k, m) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_hint(codec, hint) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_packets(codec, packet) == GFSMITH_OK);
  REQUIRE(gfsmith_encode(codec, len, in, shards + k) == GFSMITH_OK);
  REQUIRE(gfsmith_check(codec, len, in, &ok) == GFSMITH_OK && ok);
  printf("%s %ux%u %zu %d %zu %016" PRIx64, code, k, m, len, (int)hint, packet, digest(k + m, len));
  lose_and_repair(codec, k, m, len, &seed);
  memory[k][len / 2] ^= 0x40;
  REQUIRE(gfsmith_check(codec, len, in, &ok) == GFSMITH_OK && !ok);
  memory[k][len / 2] ^= 0x40;
  for (size_t b = 0; b < len; b++)
    memory[k - 1][b] ^= delta[b] = (uint8_t)reference_random(&seed);
  REQUIRE(gfsmith_update(codec, len, k - 1, delta, shards + k) == GFSMITH_OK);
  REQUIRE(gfsmith_check(codec, len, in, &ok) == GFSMITH_OK && ok);
  printf(" %016" PRIx64 "\n", digest(k + m, len));
  gfsmith_codec_destroy(codec);
}

int main(int argc, char **argv) {
  static const char *const codes[] = {"vandermonde", "cauchy", "backblaze", "lch", "cauchy_good"};
  static const unsigned shapes[][2] = {{4, 2}, {10, 4}, {12, 4}, {16, 8}};
  static const size_t lens[] = {1, 15, 16, 17, 100, LEN_MAX};
  REQUIRE(argc == 2);
  REQUIRE(argv[1][0] == '\0' || gfsmith_set_isa(argv[1]) == GFSMITH_OK);
  for (unsigned i = 0; i < SHARDS_MAX; i++)
    in[i] = shards[i] = memory[i];
  for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++)
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      unsigned k = shapes[s][0], m = shapes[s][1];
      if (c == 0 && k + m > 16)
        continue; /* not MDS */
      for (size_t n = 0; n < sizeof lens / sizeof lens[0]; n++)
        stripe(codes[c], k, m, lens[n], GFSMITH_HINT_AUTO, 0);
      stripe(codes[c], k, m, LEN_MAX, GFSMITH_HINT_STREAMING, 0);
      stripe(codes[c], k, m, 2 * 8 * 24, GFSMITH_HINT_AUTO, 24);
    }
  stripe("cauchy", 23, 17, 1000, GFSMITH_HINT_AUTO, 0); /* several passes */
  return 0;
}
