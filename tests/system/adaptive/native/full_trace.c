/* Encode with a trace that takes no line after the first: a pipe whose reader ends, or a file at
 * the limit of its size. The program has the default handling of signals, and its own ones still
 * reach it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gfsmith_adaptive.h"

enum { K = 5, M = 3, LENGTH = 4096, CALLS = 20000, BYTES = 500 };

static volatile sig_atomic_t caught;

static void on_signal(int number) { caught = number; }

int main(int argc, char **argv) {
  static uint8_t shards[K + M][LENGTH];
  const uint8_t *data[K];
  uint8_t *parity[M];
  gfsmith_adaptive_options options;
  gfsmith_adaptive *adaptive;
  gfsmith_codec *codec;
  struct stat info;
  if (argc != 3)
    return 2;
  bool pipe = strcmp(argv[2], "pipe") == 0;
  for (unsigned j = 0; j < K; j++)
    data[j] = shards[j];
  for (unsigned i = 0; i < M; i++)
    parity[i] = shards[K + i];
  gfsmith_adaptive_defaults(&options);
  options.sample = options.step = options.idle_ms = options.review_ms = 1;
  options.patience = 0;
  options.run_bytes = LENGTH;
  options.trace = argv[1];
  int reader = pipe ? open(argv[1], O_RDONLY | O_NONBLOCK) : -1;
  if (!pipe && setrlimit(RLIMIT_FSIZE, &(struct rlimit){BYTES, BYTES}) != 0)
    return 2;
  if (gfsmith_adaptive_create(&adaptive, &options) != GFSMITH_OK ||
      gfsmith_codec_create(&codec, "cauchy", K, M) != GFSMITH_OK)
    return 2;
  if (pipe)
    close(reader);
  gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING);
  gfsmith_codec_adaptive(codec, adaptive);
  for (unsigned n = 0; n < CALLS; n++)
    if (gfsmith_encode(codec, LENGTH, data, parity) != GFSMITH_OK)
      return 1;
  if (!pipe && (stat(argv[1], &info) != 0 || info.st_size != BYTES))
    return 1; /* the limit was not reached */
  signal(pipe ? SIGPIPE : SIGXFSZ, on_signal);
  raise(pipe ? SIGPIPE : SIGXFSZ);
  gfsmith_codec_destroy(codec);
  gfsmith_adaptive_destroy(adaptive);
  puts(caught != 0 ? "ok" : "its signal is lost");
  return 0;
}
