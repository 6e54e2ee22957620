/* probe: print the choice of dispatch; then, with it and with every other instruction set of the
 * build that this CPU has, encode, lose, repair, update and check. For emulated CPUs, under
 * qemu-user. */
#include <string.h>

#include "gfsmith.h"
#include "reference.h"

enum { K = 10, M = 4, LEN = 1111 };

static void round_trip(void) {
  static uint8_t memory[K + M][LEN], expected[K + M][LEN];
  uint8_t *shards[K + M], *reference[K + M];
  const uint8_t *in[K + M];
  uint64_t seed = 1;
  for (unsigned i = 0; i < K + M; i++) {
    in[i] = shards[i] = memory[i];
    reference[i] = expected[i];
    for (unsigned b = 0; i < K && b < LEN; b++)
      memory[i][b] = expected[i][b] = (uint8_t)reference_random(&seed);
  }
  reference_encode(K, M, LEN, reference);

  gfsmith_codec *codec;
  bool ok = false;
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", K, M) == GFSMITH_OK);
  REQUIRE(gfsmith_encode(codec, LEN, in, shards + K) == GFSMITH_OK);
  REQUIRE(memcmp(memory, expected, sizeof memory) == 0);
  REQUIRE(gfsmith_check(codec, LEN, in, &ok) == GFSMITH_OK && ok);

  bool present[K + M];
  for (unsigned i = 0; i < K + M; i++)
    present[i] = !(i == 0 || i == 5 || i == 9 || i == 12);
  for (unsigned i = 0; i < K + M; i++)
    if (!present[i])
      memset(memory[i], 0xee, LEN);
  REQUIRE(gfsmith_check(codec, LEN, in, &ok) == GFSMITH_OK && !ok);
  REQUIRE(gfsmith_reconstruct(codec, LEN, shards, present, NULL) == GFSMITH_OK);
  REQUIRE(memcmp(memory, expected, sizeof memory) == 0);

  static uint8_t delta[LEN];
  for (unsigned b = 0; b < LEN; b++)
    memory[7][b] ^= delta[b] = (uint8_t)reference_random(&seed);
  REQUIRE(gfsmith_update(codec, LEN, 7, delta, shards + K) == GFSMITH_OK);
  REQUIRE(gfsmith_check(codec, LEN, in, &ok) == GFSMITH_OK && ok);
  gfsmith_codec_destroy(codec);
}

int main(void) {
  static const char *const names[] = {
#define GFSMITH_ISA(name, format, features) #name,
#include "isas.inc"
#undef GFSMITH_ISA
  };
  printf("chosen %s\n", gfsmith_isa());
  round_trip();
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
    gfsmith_status status = gfsmith_set_isa(names[n]);
    if (status == GFSMITH_OK)
      round_trip();
    printf("%s %s\n", names[n], gfsmith_strerror(status));
  }
  return 0;
}
