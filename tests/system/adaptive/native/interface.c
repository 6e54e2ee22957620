/* The interface: refused arguments, the text of a policy, attached and destroyed codecs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfsmith_adaptive.h"
#include "gfsmith_plan.h"

#define CHECK(what)                                                                                \
  do {                                                                                             \
    if (!(what)) {                                                                                 \
      printf("line %d: %s\n", __LINE__, #what);                                                    \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { K = 16, M = 10, LENGTH = 4096 };

static uint8_t shards[K + M][LENGTH];

static gfsmith_adaptive_options defaults(void) {
  gfsmith_adaptive_options options;
  gfsmith_adaptive_defaults(&options);
  options.counters = 0;
  return options;
}

/* Checks that a coordinator is refused if this field has the first value, and created with the
 * second. */
#define RANGE(field, refused, taken)                                                               \
  do {                                                                                             \
    gfsmith_adaptive_options options = defaults();                                                 \
    gfsmith_adaptive *made = (gfsmith_adaptive *)1;                                                \
    options.field = refused;                                                                       \
    CHECK(gfsmith_adaptive_create(&made, &options) == GFSMITH_EINVAL && made == NULL);             \
    options.field = taken;                                                                         \
    CHECK(gfsmith_adaptive_create(&made, &options) == GFSMITH_OK);                                 \
    gfsmith_adaptive_destroy(made);                                                                \
  } while (0)

static void test_ranges(void) {
  RANGE(size, sizeof(gfsmith_adaptive_options) - 1, sizeof(gfsmith_adaptive_options));
  RANGE(size, 0, sizeof(gfsmith_adaptive_options));
  RANGE(contention, 0.99, 1);
  RANGE(contention, (double)NAN, 1000);
  RANGE(useless, 0.99, 1);
  RANGE(useless, (double)INFINITY, 1000);
  RANGE(page, 128, 256);
  RANGE(page, 4095, 8192);
  RANGE(moved, 0.009, 0.01);
  RANGE(moved, 10.1, 10);
  RANGE(neighbourhood, 0, 4);
  RANGE(neighbourhood, 1025, 1024);
  RANGE(step, 0, 1);
  RANGE(step, 17, 16);
  RANGE(first_extra, 1025, 0);
  RANGE(sample, 0, 1);
  RANGE(sample, 65537, 65536);
  RANGE(run, 1, 2);
  RANGE(run, 34, 33);
  RANGE(rounds, 2, 3);
  RANGE(rounds, 64, 63);
  RANGE(margin, -0.01, 0);
  RANGE(margin, 0.51, 0.5);
  RANGE(search_calls, 0, 1);
  RANGE(run_bytes, 0, 1);
  RANGE(window, 2, 3);
  RANGE(window, 64, 63);
  RANGE(patience, 1001, 0);
  RANGE(idle_ms, 0, 1);
  RANGE(review_ms, 3600001, 0);
  RANGE(counters, 2, 0);
  RANGE(rate, 0, 1);
  RANGE(rate, 1001, 1000);
  RANGE(policy, "fast", "row,d=7");
}

static void encode(gfsmith_codec *codec, unsigned calls) {
  const uint8_t *data[K];
  uint8_t *parity[M];
  for (unsigned j = 0; j < K; j++)
    data[j] = shards[j];
  for (unsigned i = 0; i < M; i++)
    parity[i] = shards[K + i];
  while (calls-- > 0)
    CHECK(gfsmith_encode(codec, LENGTH, data, parity) == GFSMITH_OK);
}

static void test_policy(gfsmith_adaptive *adaptive) {
  gfsmith_codec *codec;
  char text[64];
  CHECK(gfsmith_codec_create(&codec, "cauchy", K, M) == GFSMITH_OK);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 64) == 0 && text[0] == '\0');
  CHECK(gfsmith_codec_adaptive(NULL, adaptive) == GFSMITH_EINVAL);
  CHECK(gfsmith_codec_adaptive(codec, adaptive) == GFSMITH_OK);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 64) == 0); /* in cache */
  CHECK(gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) == GFSMITH_OK);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 64) == 0); /* unknown length */
  encode(codec, 1);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 64) == 7);
  CHECK(strcmp(text, "default") == 0);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, 0, text, 64) == 0);
  CHECK(gfsmith_adaptive_policy(NULL, codec, LENGTH, text, 64) == 0);
  CHECK(gfsmith_adaptive_policy(adaptive, NULL, LENGTH, text, 64) == 0);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, NULL, 64) == 0);
  CHECK(gfsmith_adaptive_force(adaptive, "rows4,d=12,nt") == GFSMITH_OK);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 6) == 13);
  CHECK(strcmp(text, "rows4") == 0);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, NULL, 0) == 13);
  CHECK(gfsmith_adaptive_force(adaptive, "rows5") == GFSMITH_EINVAL);
  CHECK(gfsmith_adaptive_force(NULL, "row") == GFSMITH_EINVAL);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 64) == 13); /* policy unchanged */
  CHECK(gfsmith_adaptive_force(adaptive, NULL) == GFSMITH_OK);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 64) == 7);
  encode(codec, 1500);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 64) > 0);
  CHECK(gfsmith_codec_adaptive(codec, adaptive) == GFSMITH_OK); /* again */
  encode(codec, 2);
  CHECK(gfsmith_codec_adaptive(codec, NULL) == GFSMITH_OK);
  CHECK(gfsmith_adaptive_policy(adaptive, codec, LENGTH, text, 64) == 0);
  encode(codec, 2);
  gfsmith_codec_destroy(codec);
}

/* More shapes and lengths than there are cells; a plan that outlives its codec. */
static void test_many(gfsmith_adaptive *adaptive) {
  uint8_t *all[K + M];
  for (unsigned i = 0; i < K + M; i++)
    all[i] = shards[i];
  gfsmith_plan *plan = NULL;
  for (unsigned k = 1; k <= K; k++)
    for (unsigned m = 1; m <= M; m++) {
      gfsmith_codec *codec;
      bool present[K + M] = {false};
      for (unsigned i = 1; i < k + m; i++)
        present[i] = true;
      CHECK(gfsmith_codec_create(&codec, "cauchy", k, m) == GFSMITH_OK);
      CHECK(gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) == GFSMITH_OK);
      CHECK(gfsmith_codec_adaptive(codec, adaptive) == GFSMITH_OK);
      for (size_t len = 1; len <= LENGTH; len += 1 + len / 16)
        CHECK(gfsmith_encode(codec, len, (const uint8_t *const *)all, all + k) == GFSMITH_OK);
      gfsmith_plan_destroy(plan);
      CHECK(gfsmith_plan_create(&plan, codec, present, NULL) == GFSMITH_OK);
      gfsmith_codec_destroy(codec);
      CHECK(gfsmith_plan_run(plan, LENGTH, all) == GFSMITH_OK);
    }
  gfsmith_plan_destroy(plan);
}

int main(int argc, char **argv) {
  gfsmith_adaptive *adaptive = NULL;
  gfsmith_adaptive_options options = defaults();
  CHECK(gfsmith_adaptive_create(NULL, NULL) == GFSMITH_EINVAL);
  gfsmith_adaptive_defaults(NULL);
  gfsmith_adaptive_destroy(NULL);
  test_ranges();
  options.trace = argc > 1 ? argv[1] : NULL;
  options.sample = 1; /* searches begin immediately */
  options.search_calls = 500;
  options.run_bytes = 1;
  CHECK(gfsmith_adaptive_create(&adaptive, &options) == GFSMITH_OK);
  test_policy(adaptive);
  test_many(adaptive);
  gfsmith_adaptive_destroy(adaptive);
  puts("ok");
  return 0;
}
