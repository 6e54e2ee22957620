/* Encode ten shards, lose two, get them back. */
#include <gfsmith.h>
#include <stdio.h>
#include <string.h>

enum { K = 10, M = 4, N = K + M, LENGTH = 4099 };

static uint8_t memory[N][LENGTH];
static uint8_t lost[2][LENGTH];

int main(void) {
  uint8_t *shards[N];
  bool present[N];
  for (size_t i = 0; i < N; i++) {
    shards[i] = memory[i];
    present[i] = i != 2 && i != 7;
    for (size_t b = 0; i < K && b < LENGTH; b++)
      memory[i][b] = (uint8_t)(b * (i + 3) + b / 251);
  }
  gfsmith_codec *codec;
  gfsmith_status status = gfsmith_codec_create(&codec, "cauchy", K, M);
  if (status == GFSMITH_OK) {
    status = gfsmith_encode(codec, LENGTH, (const uint8_t *const *)shards, shards + K);
    memcpy(lost[0], memory[2], LENGTH);
    memcpy(lost[1], memory[7], LENGTH);
    memset(memory[2], 0, LENGTH);
    memset(memory[7], 0, LENGTH);
    if (status == GFSMITH_OK)
      status = gfsmith_reconstruct(codec, LENGTH, shards, present, NULL);
    gfsmith_codec_destroy(codec);
  }
  if (status != GFSMITH_OK) {
    fprintf(stderr, "example: %s\n", gfsmith_strerror(status));
    return 1;
  }
  bool same = !memcmp(lost[0], memory[2], LENGTH) && !memcmp(lost[1], memory[7], LENGTH);
  printf("%s: shards 2 and 7 %s\n", gfsmith_isa(), same ? "are back" : "differ");
  return !same;
}
