/* Every policy gives the bytes of the library without a coordinator, and writes nothing around
 * them: encoding, repairs of every loss of some shapes, local codes, a parity that is always 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfsmith_adaptive.h"
#include "gfsmith_plan.h"

enum { GUARD = 64, REPAIRED = 600, LENGTH_MAX = 9000, PITCH = LENGTH_MAX + 4 * GUARD };

static uint8_t *memory, *expected;
static unsigned calls;

static void fail(const char *what, const char *policy, unsigned k, unsigned m, size_t len) {
  printf("%s: %s, %u+%u, %zu bytes\n", what, policy, k, m, len);
  exit(1);
}

static void check(gfsmith_status status, const char *what, const char *policy) {
  if (status != GFSMITH_OK)
    fail(what, policy, 0, 0, (size_t)-status);
}

/* Places the shards: at every residue modulo 64 if `crooked`, else aligned. */
static void place(uint8_t *from, unsigned count, bool crooked, uint8_t **shard) {
  for (unsigned i = 0; i < count; i++)
    shard[i] = from + (size_t)i * PITCH + GUARD + (crooked ? i * 37 % 64 : 0);
}

static void fill(uint8_t *at, size_t len, uint32_t *seed) {
  for (size_t n = 0; n < len; n++) {
    *seed = *seed * 1664525u + 1013904223u;
    at[n] = (uint8_t)(*seed >> 24);
  }
}

/* Checks all bytes, including guards. */
static void compare(unsigned shards, const char *policy, unsigned k, unsigned m, size_t len) {
  calls++;
  for (unsigned i = 0; i < shards; i++) /* only up to the longest end of a shard of this length */
    if (memcmp(memory + (size_t)i * PITCH, expected + (size_t)i * PITCH, len + 3 * GUARD) != 0)
      fail("wrong bytes", policy, k, m, len);
}

/* One codec without a coordinator computes the expected bytes, the other must give the same. */
static void encode(const gfsmith_codec *plain, const gfsmith_codec *codec, unsigned k, unsigned m,
                   size_t len, bool crooked, const char *policy) {
  uint8_t *got[GFSMITH_MAX_SHARDS], *want[GFSMITH_MAX_SHARDS];
  place(memory, k + m, crooked, got);
  place(expected, k + m, crooked, want);
  uint32_t seed = (uint32_t)(k * 1000003u + m * 101u + len);
  for (unsigned i = 0; i < k + m; i++) {
    memset(memory + (size_t)i * PITCH, 0xA5, len + 4 * GUARD);
    memset(expected + (size_t)i * PITCH, 0xA5, len + 4 * GUARD);
  }
  for (unsigned j = 0; j < k; j++) {
    fill(want[j], len, &seed);
    memcpy(got[j], want[j], len);
  }
  check(gfsmith_encode(plain, len, (const uint8_t *const *)want, want + k), "plain", policy);
  check(gfsmith_encode(codec, len, (const uint8_t *const *)got, got + k), "encode", policy);
  compare(k + m, policy, k, m, len);
}

/* The same for a batch of stripes, each of which has gaps of GUARD bytes around its shards. */
static void encode_stripes(const gfsmith_codec *plain, const gfsmith_codec *codec, unsigned k,
                           unsigned m, size_t len, const char *policy) {
  enum { STRIPES = 3 };
  static uint8_t *got[2][STRIPES * GFSMITH_MAX_SHARDS], *want[2][STRIPES * GFSMITH_MAX_SHARDS];
  uint8_t *row[2][GFSMITH_MAX_SHARDS];
  size_t used = STRIPES * (len + GUARD);
  uint32_t seed = (uint32_t)(k * 101u + m + len);
  place(memory, k + m, true, row[0]);
  place(expected, k + m, true, row[1]);
  for (unsigned i = 0; i < k + m; i++) {
    memset(memory + (size_t)i * PITCH, 0xA5, used + 3 * GUARD);
    memset(expected + (size_t)i * PITCH, 0xA5, used + 3 * GUARD);
    for (unsigned s = 0; s < STRIPES; s++) {
      bool parity = i >= k;
      unsigned n = parity ? s * m + i - k : s * k + i;
      got[parity][n] = row[0][i] + s * (len + GUARD);
      want[parity][n] = row[1][i] + s * (len + GUARD);
      if (parity)
        continue;
      fill(want[0][n], len, &seed);
      memcpy(got[0][n], want[0][n], len);
    }
  }
  check(gfsmith_encode_stripes(plain, len, STRIPES, (const uint8_t *const *)want[0], want[1]),
        "plain stripes", policy);
  check(gfsmith_encode_stripes(codec, len, STRIPES, (const uint8_t *const *)got[0], got[1]),
        "stripes", policy);
  compare(k + m, policy, k, m, used);
}

/* Loses the shards in the bits of `loss` after encode(), and repairs them. */
static void repair(const gfsmith_codec *codec, unsigned k, unsigned m, size_t len, unsigned loss,
                   const char *policy) {
  uint8_t *got[GFSMITH_MAX_SHARDS] = {NULL};
  bool present[GFSMITH_MAX_SHARDS] = {false};
  place(memory, k + m, true, got);
  for (unsigned i = 0; i < k + m; i++) {
    present[i] = (loss >> i & 1) == 0;
    if (!present[i])
      memset(got[i], 0xEE, len);
  }
  gfsmith_status status = gfsmith_reconstruct(codec, len, got, present, NULL);
  if (status == GFSMITH_ESINGULAR) { /* not every loss of a local code can be repaired */
    uint8_t *want[GFSMITH_MAX_SHARDS];
    place(expected, k + m, true, want);
    for (unsigned i = 0; i < k + m; i++)
      memcpy(got[i], want[i], len);
    return;
  }
  check(status, "reconstruct", policy);
  compare(k + m, policy, k, m, len);
}

static gfsmith_codec *ready(gfsmith_status status, gfsmith_codec *codec,
                            gfsmith_adaptive *adaptive) {
  check(status, "create", "");
  check(gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING), "hint", "");
  check(gfsmith_codec_adaptive(codec, adaptive), "codec", "");
  return codec;
}

static void test_encode(gfsmith_adaptive *adaptive, const char *policy, unsigned k, unsigned m,
                        const size_t *lengths, size_t count) {
  gfsmith_codec *plain, *codec;
  gfsmith_status status = gfsmith_codec_create(&plain, "cauchy", k, m);
  plain = ready(status, plain, NULL);
  status = gfsmith_codec_create(&codec, "cauchy", k, m);
  codec = ready(status, codec, adaptive);
  for (size_t n = 0; n < count; n++) {
    for (int crooked = 0; crooked < 2; crooked++)
      encode(plain, codec, k, m, lengths[n], crooked != 0, policy);
    if (lengths[n] <= LENGTH_MAX / 4)
      encode_stripes(plain, codec, k, m, lengths[n], policy);
  }
  gfsmith_codec_destroy(plain);
  gfsmith_codec_destroy(codec);
}

static unsigned ones(unsigned n) { return n == 0 ? 0 : (n & 1) + ones(n >> 1); }

typedef enum { VANDERMONDE, LOCAL, ZERO } kind; /* ZERO: the last parity is always 0 */

static gfsmith_status create(gfsmith_codec **codec, kind of, unsigned k, unsigned l, unsigned r) {
  uint8_t matrix[GFSMITH_MAX_SHARDS] = {0};
  for (unsigned n = 0; n < k * (l + r - 1); n++)
    matrix[n] = (uint8_t)(n + 1);
  if (of == ZERO)
    return gfsmith_codec_create_matrix(codec, 0x11d, k, l + r, matrix);
  return of == LOCAL ? gfsmith_codec_create_lrc(codec, k, l, r)
                     : gfsmith_codec_create(codec, "vandermonde", k, l + r);
}

static void test_repairs(gfsmith_adaptive *adaptive, const char *policy, kind of, unsigned k,
                         unsigned l, unsigned r) {
  gfsmith_codec *plain, *codec;
  unsigned m = l + r;
  for (int n = 0; n < 2; n++) {
    gfsmith_codec **out = n == 0 ? &plain : &codec;
    gfsmith_status status = create(out, of, k, l, r);
    *out = ready(status, *out, n == 0 ? NULL : adaptive);
  }
  encode(plain, codec, k, m, REPAIRED, true, policy);
  for (unsigned loss = 1; loss < 1u << (k + m); loss++)
    if (ones(loss) <= m)
      repair(codec, k, m, REPAIRED, loss, policy);
  gfsmith_codec_destroy(plain);
  gfsmith_codec_destroy(codec);
}

static void test_policy(gfsmith_adaptive *adaptive, const char *policy) {
  static const size_t few[] = {1, 64, 257, 1024 + 65};
  static const size_t many[] = {1,    63,   64,   65,   127,  128,  129,       255,  256,
                                257,  320,  511,  512,  513,  640,  1023,      1024, 1025,
                                1500, 2047, 2048, 2049, 4096, 4097, LENGTH_MAX};
  static const unsigned outputs[] = {1, 2, 3, 4, 5, 6, 7, 8, 12};
  check(gfsmith_adaptive_force(adaptive, policy), "force", policy);
  for (unsigned k = 1; k <= 64; k += 1 + k / 16)
    test_encode(adaptive, policy, k, outputs[k % 9], few, sizeof few / sizeof few[0]);
  for (unsigned n = 0; n < 9; n++)
    test_encode(adaptive, policy, 5, outputs[n], many, sizeof many / sizeof many[0]);
  test_encode(adaptive, policy, 28, 12, many + 19, 5); /* more than a chunk */
  test_encode(adaptive, policy, 154, 4, few, sizeof few / sizeof few[0]);
  test_encode(adaptive, policy, 1, 254, few, 3);
  test_encode(adaptive, policy, 254, 1, few, 4);
  test_repairs(adaptive, policy, VANDERMONDE, 5, 3, 0);
  test_repairs(adaptive, policy, LOCAL, 6, 2, 2);
  test_repairs(adaptive, policy, ZERO, 5, 2, 0);
}

int main(int argc, char **argv) {
  memory = malloc((size_t)GFSMITH_MAX_SHARDS * PITCH);
  expected = malloc((size_t)GFSMITH_MAX_SHARDS * PITCH);
  gfsmith_adaptive_options options;
  gfsmith_adaptive_defaults(&options);
  options.counters = 0;
  options.device = argc > 1 ? argv[1] : NULL; /* lines of 256 bytes, for `first` */
  gfsmith_adaptive *adaptive;
  if (memory == NULL || expected == NULL || argc < 3)
    return 2;
  check(gfsmith_adaptive_create(&adaptive, &options), "create", "");
  for (int n = 2; n < argc; n++)
    test_policy(adaptive, argv[n]);
  gfsmith_adaptive_destroy(adaptive);
  free(memory);
  free(expected);
  printf("%u calls\n", calls);
  return 0;
}
