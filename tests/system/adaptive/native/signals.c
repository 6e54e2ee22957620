/* A signal's handler encodes with the codec that the interrupted thread uses, while searches begin
 * and end all the time; the bytes must be right. The signal arrives whenever the coordinator reads
 * the clock: link with --wrap=clock_gettime. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gfsmith_adaptive.h"

enum { K = 5, M = 3, LENGTH = 2048, SIGNALS = 2000 };

static gfsmith_codec *codec;
static uint8_t data[K][LENGTH], wanted[M][LENGTH], outer[M][LENGTH], inner[M][LENGTH];
static volatile sig_atomic_t handled, wrong;

static void encode(uint8_t (*parity)[LENGTH], size_t len) {
  const uint8_t *in[K];
  uint8_t *out[M];
  for (unsigned j = 0; j < K; j++)
    in[j] = data[j];
  for (unsigned i = 0; i < M; i++)
    out[i] = parity[i];
  memset(parity, 0, sizeof inner);
  if (gfsmith_encode(codec, len, in, out) != GFSMITH_OK)
    wrong = 1;
  for (unsigned i = 0; i < M; i++)
    if (memcmp(parity[i], wanted[i], len) != 0)
      wrong = 1;
}

static void handle(int number) {
  (void)number;
  encode(inner, handled % 3 == 0 ? 1024 : LENGTH);
  handled = handled + 1;
}

/* No signal arrives before its handler is set, nor while it runs. */
static volatile sig_atomic_t held = 1;

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __wrap_clock_gettime(clockid_t id, struct timespec *now) {
  if (!held) {
    held = 1;
    raise(SIGUSR1);
    held = 0;
  }
  return __real_clock_gettime(id, now);
}

int main(void) {
  gfsmith_adaptive *adaptive;
  gfsmith_adaptive_options options;
  gfsmith_adaptive_defaults(&options);
  options.sample = options.step = options.idle_ms = 1;
  options.run = 2;
  options.run_bytes = 1;
  options.rounds = options.window = 3;
  options.patience = 0;
  options.search_calls = 40;
  options.counters = 0;
  options.moved = 0.01;
  if (gfsmith_codec_create(&codec, "cauchy", K, M) != GFSMITH_OK ||
      gfsmith_adaptive_create(&adaptive, &options) != GFSMITH_OK)
    return 2;
  for (unsigned j = 0; j < K; j++)
    for (size_t b = 0; b < LENGTH; b++)
      data[j][b] = (uint8_t)((b * 131 + j * 71) >> 2);
  const uint8_t *in[K] = {data[0], data[1], data[2], data[3], data[4]};
  uint8_t *out[M] = {wanted[0], wanted[1], wanted[2]};
  gfsmith_codec_hint(codec, GFSMITH_HINT_CACHED);
  gfsmith_encode(codec, LENGTH, in, out);
  gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING);
  if (gfsmith_codec_adaptive(codec, adaptive) != GFSMITH_OK)
    return 2;
  struct sigaction action = {.sa_handler = handle};
  if (sigaction(SIGUSR1, &action, NULL) != 0)
    return 2;
  held = 0;
  for (unsigned n = 0; handled < SIGNALS && !wrong; n++)
    encode(outer, n % 5 == 0 ? 1024 : LENGTH);
  held = 1;
  gfsmith_codec_destroy(codec);
  gfsmith_adaptive_destroy(adaptive);
  puts(wrong ? "wrong bytes" : "ok");
  return wrong;
}
