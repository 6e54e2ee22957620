/* Encodes and repairs with each of the policies in its arguments, and without a policy, and checks
 * that the bytes are equal. Prints the policy that the library reports for each. Used by
 * test_builds.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(TOGETHER) /* an amalgamation's header declares everything */
#include "gfsmith.h"
#else
#include <gfsmith_adaptive.h>
#endif

enum { K = 5, M = 2, LEN = 5000, BAD = 3 };

static uint8_t shards[K + M][LEN], expected[K + M][LEN];

static void check(gfsmith_status status, const char *what) {
  if (status != GFSMITH_OK) {
    printf("%s: %s\n", what, gfsmith_strerror(status));
    exit(1);
  }
}

static gfsmith_codec *codec_with(gfsmith_adaptive *adaptive) {
  gfsmith_codec *codec;
  check(gfsmith_codec_create(&codec, "cauchy", K, M), "codec");
  check(gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING), "hint");
  if (adaptive != NULL)
    check(gfsmith_codec_adaptive(codec, adaptive), "attach");
  return codec;
}

/* Encodes again, then repairs a data shard and a parity. */
static void run(const gfsmith_codec *codec) {
  const uint8_t *data[K];
  uint8_t *parity[M], *all[K + M];
  bool present[K + M];
  for (int n = 0; n < K + M; n++) {
    all[n] = shards[n];
    present[n] = n != BAD && n != K;
    if (n < K)
      data[n] = shards[n];
    else
      parity[n - K] = memset(shards[n], 0xee, LEN);
  }
  check(gfsmith_encode(codec, LEN, data, parity), "encode");
  memset(shards[BAD], 0xee, LEN);
  memset(shards[K], 0xee, LEN);
  check(gfsmith_reconstruct(codec, LEN, all, present, NULL), "reconstruct");
}

int main(int argc, char **argv) {
  gfsmith_adaptive *adaptive;
  unsigned random = 1;
  for (int n = 0; n < K; n++)
    for (int i = 0; i < LEN; i++)
      shards[n][i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
  gfsmith_codec *plain = codec_with(NULL);
  run(plain);
  memcpy(expected, shards, sizeof shards);
  check(gfsmith_adaptive_create(&adaptive, NULL), "coordinator");
  gfsmith_codec *codec = codec_with(adaptive);
  for (int n = 1; n < argc; n++) {
    char text[64] = "";
    check(gfsmith_adaptive_force(adaptive, argv[n]), argv[n]);
    for (int times = 0; times < 3; times++)
      run(codec);
    gfsmith_adaptive_policy(adaptive, codec, LEN, text, sizeof text);
    printf("%s%s", text, n + 1 < argc ? " " : "\n");
    if (memcmp(expected, shards, sizeof shards) != 0) {
      printf("%s: other bytes\n", argv[n]);
      return 1;
    }
  }
  gfsmith_codec_destroy(codec);
  gfsmith_codec_destroy(plain);
  gfsmith_adaptive_destroy(adaptive);
  return 0;
}
