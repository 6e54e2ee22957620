/* shapes: the whole interface over many shapes and lengths on buffers of exactly the right size, so
 * that AddressSanitizer detects every byte out of bounds and every leak. Arguments: instruction
 * set, and for an emulator n, to use one length in n and fewer sizes of packets. */
#include <string.h>

#include "gfsmith.h"
#include "gfsmith_plan.h"
#include "reference.h"

typedef struct stripe {
  unsigned k, m;
  size_t len;
  uint8_t *shard[GFSMITH_MAX_SHARDS];
  uint8_t *expected[GFSMITH_MAX_SHARDS];
} stripe;

static void *allocate(size_t size) {
  void *memory = malloc(size);
  REQUIRE(memory != NULL || size == 0);
  return memory;
}

static void stripe_make(stripe *s, unsigned k, unsigned m, size_t len, uint64_t *seed) {
  *s = (stripe){.k = k, .m = m, .len = len};
  for (unsigned i = 0; i < k + m; i++) {
    s->shard[i] = allocate(len);
    s->expected[i] = allocate(len);
    for (size_t b = 0; i < k && b < len; b++)
      s->shard[i][b] = s->expected[i][b] = (uint8_t)reference_random(seed);
  }
  reference_encode(k, m, len, s->expected);
}

static void stripe_free(stripe *s) {
  for (unsigned i = 0; i < s->k + s->m; i++) {
    free(s->shard[i]);
    free(s->expected[i]);
  }
}

static bool stripe_intact(const stripe *s) {
  for (unsigned i = 0; i < s->k + s->m; i++)
    if (s->len > 0 && memcmp(s->shard[i], s->expected[i], s->len) != 0)
      return false;
  return true;
}

/* Copies to an array of exactly the right length, so that reading past its end is detected. */
static void *exact(const void *array, size_t size) {
  void *copy = allocate(size);
  memcpy(copy, array, size);
  return copy;
}

static void lose_and_repair(const gfsmith_codec *codec, stripe *s, uint64_t *seed) {
  unsigned n = s->k + s->m;
  uint8_t **shards = exact(s->shard, n * sizeof *shards);
  bool *present = allocate(n);
  for (unsigned i = 0; i < n; i++)
    present[i] = true;
  for (unsigned lost = 0; lost < s->m;) {
    unsigned i = reference_random(seed) % n;
    if (!present[i])
      continue;
    present[i] = false;
    lost++;
    for (size_t b = 0; b < s->len; b++)
      s->shard[i][b] = 0xee;
  }
  REQUIRE(gfsmith_reconstruct(codec, s->len, shards, present, NULL) == GFSMITH_OK);
  REQUIRE(stripe_intact(s));
  if (s->len > 0) {
    for (unsigned i = 0; i < n; i++)
      present[i] = i > s->m;
    REQUIRE(gfsmith_reconstruct(codec, s->len, shards, present, NULL) == GFSMITH_ETOOMANY);
  }
  free(shards);
  free(present);
}

/* Changes several data shards at once, then appends all of them to new parities. */
static void change_many(const gfsmith_codec *codec, stripe *s, uint64_t *seed) {
  unsigned count = s->k < 11 ? s->k : 11;
  unsigned *indices = allocate(count * sizeof *indices);
  uint8_t **deltas = allocate(count * sizeof *deltas);
  uint8_t **shards = exact(s->shard, (s->k + s->m) * sizeof *shards);
  bool ok = false;
  for (unsigned n = 0; n < count; n++) {
    indices[n] = reference_random(seed) % s->k;
    deltas[n] = allocate(s->len);
    for (size_t b = 0; b < s->len; b++)
      s->shard[indices[n]][b] ^= deltas[n][b] = (uint8_t)reference_random(seed);
  }
  REQUIRE(gfsmith_update_many(codec, s->len, count, indices, (const uint8_t *const *)deltas,
                              shards + s->k) == GFSMITH_OK);
  REQUIRE(gfsmith_check(codec, s->len, (const uint8_t *const *)shards, &ok) == GFSMITH_OK && ok);
  for (unsigned i = s->k; i < s->k + s->m; i++)
    for (size_t b = 0; b < s->len; b++)
      s->shard[i][b] = 0xee;
  for (unsigned j = s->k; j-- > 0;)
    REQUIRE(gfsmith_append(codec, s->len, j, s->shard[j], shards + s->k, j == s->k - 1) ==
            GFSMITH_OK);
  REQUIRE(gfsmith_check(codec, s->len, (const uint8_t *const *)shards, &ok) == GFSMITH_OK && ok);
  for (unsigned n = 0; n < count; n++)
    free(deltas[n]);
  free(deltas);
  free(indices);
  free(shards);
}

/* Changes the last byte of every third shard in turn; the search must find exactly that shard. */
static void locate(const gfsmith_codec *codec, stripe *s, size_t packet) {
  unsigned n = s->k + s->m;
  uint8_t **shards = exact(s->shard, n * sizeof *shards);
  size_t *counts = allocate((n + 2) * sizeof *counts);
  uint16_t *where = allocate(s->len * sizeof *where);
  for (unsigned i = 0; i < n; i += 3) {
    if (s->len > 0)
      shards[i][s->len - 1] ^= 0x40;
    gfsmith_status status =
        gfsmith_locate(codec, s->len, (const uint8_t *const *)shards, counts, where);
    REQUIRE(status == (s->m < 2 || packet > 0 ? GFSMITH_EUNSUPPORTED : GFSMITH_OK));
    if (status == GFSMITH_OK && s->len > 0) {
      REQUIRE(counts[i] == 1 && counts[n] == s->len - 1 && counts[n + 1] == 0);
      REQUIRE(where[s->len - 1] == i && (s->len == 1 || where[0] == GFSMITH_INTACT));
    }
    if (s->len > 0)
      shards[i][s->len - 1] ^= 0x40;
  }
  free(where);
  free(counts);
  free(shards);
}

/* Changes the last byte of m / 2 shards, and with two missing shards of m / 2 - 1; the decoder, of
 * a generalised Reed-Solomon code, must restore all. */
static void correct(const gfsmith_codec *codec, stripe *s, size_t packet) {
  unsigned n = s->k + s->m;
  uint8_t **shards = exact(s->shard, n * sizeof *shards);
  size_t *counts = allocate((n + 2) * sizeof *counts);
  uint16_t *found = allocate(s->len * sizeof *found);
  bool *present = allocate(n);
  for (unsigned lost = 0; lost <= 2 && lost + 2 <= s->m; lost += 2) {
    for (unsigned i = 0; i < n; i++)
      present[i] = !(i == 0 && lost > 0) && !(i == n - 1 && lost > 0);
    unsigned wrong = (s->m - lost) / 2;
    for (unsigned i = 1; s->len > 0 && i <= wrong; i++)
      shards[i][s->len - 1] ^= (uint8_t)(0x40 + i);
    gfsmith_status status = gfsmith_correct(codec, s->len, shards, present, counts, found);
    REQUIRE(status == (packet > 0 ? GFSMITH_EUNSUPPORTED : GFSMITH_OK));
    REQUIRE(status != GFSMITH_OK || s->len == 0 || found[s->len - 1] == wrong);
    REQUIRE(status != GFSMITH_OK || s->len == 0 || counts[n] == s->len - 1);
    for (unsigned i = 1; status != GFSMITH_OK && s->len > 0 && i <= wrong; i++)
      shards[i][s->len - 1] ^= (uint8_t)(0x40 + i);
  }
  free(present);
  free(found);
  free(counts);
  free(shards);
}

/* In packet layout (packet > 0) the parities are not compared; other tests show that they equal
 * Jerasure's. */
static void exercise(unsigned k, unsigned m, size_t len, size_t packet, uint64_t *seed) {
  stripe s;
  gfsmith_codec *codec;
  bool ok = false;
  stripe_make(&s, k, m, len, seed);
  uint8_t **shards = exact(s.shard, (k + m) * sizeof *shards);
  const uint8_t **data = exact(s.shard, k * sizeof *data);
  uint8_t **parity = exact(s.shard + k, m * sizeof *parity);
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", k, m) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_packets(codec, packet) == GFSMITH_OK);
  REQUIRE(gfsmith_encode(codec, len, data, parity) == GFSMITH_OK);
  for (unsigned i = k; packet > 0 && i < k + m; i++)
    memcpy(s.expected[i], s.shard[i], len);
  REQUIRE(stripe_intact(&s));
  REQUIRE(gfsmith_check(codec, len, (const uint8_t *const *)shards, &ok) == GFSMITH_OK && ok);
  for (int round = 0; round < 3; round++)
    lose_and_repair(codec, &s, seed);

  unsigned index = reference_random(seed) % k;
  uint8_t *delta = allocate(len);
  for (size_t b = 0; b < len; b++)
    s.shard[index][b] ^= delta[b] = (uint8_t)reference_random(seed);
  REQUIRE(gfsmith_update(codec, len, index, delta, parity) == GFSMITH_OK);
  REQUIRE(gfsmith_check(codec, len, (const uint8_t *const *)shards, &ok) == GFSMITH_OK && ok);
  free(delta);
  change_many(codec, &s, seed);
  locate(codec, &s, packet);
  correct(codec, &s, packet);
  gfsmith_codec_destroy(codec);
  free(data);
  free(parity);
  free(shards);
  stripe_free(&s);
}

/* Plans of a local code: all losses of three shards, repaired with only the shards that the plan
 * reads. */
static void plans(void) {
  enum { K = 6, N = 10 };
  gfsmith_codec *codec;
  REQUIRE(gfsmith_codec_create_lrc(&codec, K, 2, 2) == GFSMITH_OK);
  for (unsigned lost = 0; lost < 1u << N; lost++) {
    uint8_t bytes[N], expected[N], *shards[N], *needed[N] = {NULL};
    bool present[N], determined[N];
    unsigned missing = 0, count;
    for (unsigned i = 0; i < N; i++) {
      shards[i] = bytes + i;
      bytes[i] = (uint8_t)(37 * i + 1);
      present[i] = !(lost >> i & 1);
      missing += !present[i];
    }
    REQUIRE(gfsmith_determined(codec, present, determined) == GFSMITH_OK);
    if (missing > 3)
      continue;
    REQUIRE(gfsmith_encode(codec, 1, (const uint8_t *const *)shards, shards + K) == GFSMITH_OK);
    memcpy(expected, bytes, N);
    gfsmith_plan *plan;
    REQUIRE(gfsmith_plan_create(&plan, codec, present, NULL) == GFSMITH_OK);
    const uint8_t *read = gfsmith_plan_reads(plan, &count);
    for (unsigned n = 0; n < count; n++)
      needed[read[n]] = bytes + read[n];
    for (unsigned i = 0; i < N; i++)
      if (!present[i])
        *(needed[i] = bytes + i) = 0xee;
    REQUIRE(gfsmith_plan_is_least(plan) && gfsmith_plan_run(plan, 1, needed) == GFSMITH_OK);
    REQUIRE(memcmp(bytes, expected, N) == 0);
    gfsmith_plan_destroy(plan);
  }
  gfsmith_codec_destroy(codec);
}

/* A matrix that cannot repair everything, and refused arguments: no error path leaks. */
static void refusals(void) {
  static const uint8_t twice[] = {1, 1, 1, 1};
  uint8_t bytes[4] = {1, 2, 3, 3};
  uint8_t *shards[4] = {bytes, bytes + 1, bytes + 2, bytes + 3};
  static const bool lost_data[4] = {false, false, true, true};
  gfsmith_codec *codec;
  REQUIRE(gfsmith_codec_create_matrix(&codec, 0x11d, 2, 2, twice) == GFSMITH_OK);
  REQUIRE(gfsmith_reconstruct(codec, 1, shards, lost_data, NULL) == GFSMITH_ESINGULAR);
  shards[2] = NULL;
  REQUIRE(gfsmith_reconstruct(codec, 1, shards, (bool[4]){false, true, true, true}, NULL) ==
          GFSMITH_EINVAL);
  gfsmith_codec_destroy(codec);
  REQUIRE(gfsmith_codec_create_matrix(&codec, 0x101, 2, 2, twice) == GFSMITH_EINVAL);
  REQUIRE(codec == NULL);
  REQUIRE(gfsmith_codec_create(&codec, "vandermonde", 50, 4) == GFSMITH_ENOTMDS);
  REQUIRE(codec == NULL);
}

int main(int argc, char **argv) {
  static const unsigned shapes[][2] = {{1, 1},   {4, 2},  {10, 4},  {17, 3},  {5, 11},  {48, 4},
                                       {20, 12}, {3, 40}, {1, 254}, {254, 1}, {100, 20}};
  static const size_t lens[] = {0, 1, 2, 3, 7, 8, 9, 15, 31, 33, 63, 64, 65, 127, 129, 255, 1000};
  uint64_t seed = 42;
  REQUIRE((argc == 2 || argc == 3) && gfsmith_set_isa(argv[1]) == GFSMITH_OK);
  size_t step = argc == 3 ? strtoul(argv[2], NULL, 10) : 1;
  REQUIRE(step > 0);
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
    for (size_t n = s % step; n < sizeof lens / sizeof lens[0]; n += step)
      exercise(shapes[s][0], shapes[s][1], lens[n], 0, &seed);
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
    for (size_t packet = 1; packet < 300; packet = 3 * step * packet + 2)
      exercise(shapes[s][0], shapes[s][1], 2 * 8 * packet, packet, &seed);
  exercise(9, 10, 50001, 0, &seed); /* several chunks */
  plans();
  refusals();
  puts("ok");
  return 0;
}
