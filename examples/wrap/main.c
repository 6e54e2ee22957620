/* Encode ten shards, lose two, rebuild them. */
#include <gfsmith.h>
#include <stdio.h>
#include <string.h>

enum { K = 10, M = 4, LENGTH = 4099 };

static uint8_t memory[K + M][LENGTH], before[K + M][LENGTH];

int main(void) {
  uint8_t *shards[K + M];
  bool present[K + M];
  for (size_t i = 0; i < K + M; i++) {
    shards[i] = memory[i];
    present[i] = i != 2 && i != 7;
    for (size_t b = 0; b < LENGTH; b++)
      memory[i][b] = (uint8_t)(b * (i + 3) + b / 251);
  }
  gfsmith_codec *codec = NULL;
  gfsmith_status status = gfsmith_codec_create(&codec, "cauchy", K, M);
  if (status == GFSMITH_OK)
    status = gfsmith_encode(codec, LENGTH, (const uint8_t *const *)shards, shards + K);
  memcpy(before, memory, sizeof memory);
  memset(memory[2], 0, LENGTH);
  memset(memory[7], 0, LENGTH);
  if (status == GFSMITH_OK)
    status = gfsmith_reconstruct(codec, LENGTH, shards, present, NULL);
  gfsmith_codec_destroy(codec);
  bool same = status == GFSMITH_OK && memcmp(before, memory, sizeof memory) == 0;
  printf("%s: shards 2 and 7 %s\n", gfsmith_isa(), same ? "are back" : gfsmith_strerror(status));
  return !same;
}
