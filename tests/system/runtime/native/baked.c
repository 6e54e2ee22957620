/* baked: the choice of kernels for known matrices and their places, and the rest of the codec with
 * them. The library is compiled with the lists in fake_set/, whose kernels are below. */
#include <string.h>

#include "dispatch.h"
#include "fake_set/kernels.h"
#include "gfsmith.h"
#include "reference.h"

enum { MAX = 16, LEN = 5000 };
static unsigned calls_short, calls_long, calls_nearby, calls_distant, calls_wide;

static void compute(size_t len, unsigned outputs, unsigned inputs, const uint8_t *matrix,
                    const uint8_t *const *src, uint8_t *const *dst) {
  for (unsigned i = 0; i < outputs; i++)
    for (size_t b = 0; b < len; b++) {
      dst[i][b] = 0;
      for (unsigned j = 0; j < inputs; j++)
        dst[i][b] ^= reference_products()[matrix[i * inputs + j]][src[j][b]];
    }
}

static const uint8_t known[] = {1, 2, 4, 1, 3, 5, 1, 4, 16, 1, 5, 17};
static const uint8_t wide[] = {1, 1, 1, 2, 1, 3, 1, 4, 1, 5, 1, 6, 1, 7, 1, 8, 1, 9, 1, 10, 1, 11};

#define KNOWN(name, count, outputs, inputs, matrix)                                                \
  void name(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,                \
            uint8_t *const *dst) {                                                                 \
    (void)k, (void)coeffs;                                                                         \
    count++;                                                                                       \
    compute(len, outputs, inputs, matrix, src, dst);                                               \
  }
KNOWN(known_short, calls_short, 2, 3, known)
KNOWN(known_long, calls_long, 3, 3, known)
KNOWN(known_long_nearby, calls_nearby, 3, 3, known)
KNOWN(known_long_distant, calls_distant, 3, 3, known)
KNOWN(known_wide, calls_wide, 11, 2, wide)

void known_elsewhere(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,
                     uint8_t *const *dst) {
  (void)len, (void)k, (void)coeffs, (void)src, (void)dst;
  REQUIRE(!"this kernel is for something else");
}

static uint8_t memory[MAX][LEN], expected[MAX][LEN];
static uint8_t *shards[MAX], *reference[MAX];
static const uint8_t *in[MAX];

static void forget_calls(void) {
  calls_short = calls_long = calls_nearby = calls_distant = calls_wide = 0;
}

static bool called(unsigned s, unsigned l, unsigned nearby, unsigned distant, unsigned w) {
  bool as_said = calls_short == s && calls_long == l && calls_nearby == nearby &&
                 calls_distant == distant && calls_wide == w;
  forget_calls();
  return as_said;
}

static gfsmith_codec *make(unsigned k, unsigned m, const uint8_t *matrix) {
  gfsmith_codec *codec;
  REQUIRE(gfsmith_codec_create_matrix(&codec, 0x11d, k, m, matrix) == GFSMITH_OK);
  compute(LEN, m, k, matrix, in, reference + k);
  for (unsigned i = 0; i < m; i++)
    memset(memory[k + i], 0xee, LEN);
  forget_calls();
  return codec;
}

static void encode(const gfsmith_codec *codec, unsigned k, unsigned m, size_t len) {
  REQUIRE(gfsmith_encode(codec, len, in, shards + k) == GFSMITH_OK);
  for (unsigned i = 0; i < m; i++)
    REQUIRE(memcmp(memory[k + i], expected[k + i], len) == 0);
}

/* Update, check and repair with known kernels. */
static void exercise(const gfsmith_codec *codec, unsigned k, unsigned m) {
  static uint8_t kept[LEN];
  bool ok = false, present[MAX];
  memcpy(kept, memory[1], LEN);
  REQUIRE(gfsmith_update(codec, LEN, 1, memory[1], shards + k) == GFSMITH_OK);
  memset(memory[1], 0, LEN);
  REQUIRE(gfsmith_check(codec, LEN, in, &ok) == GFSMITH_OK && ok);
  memcpy(memory[1], kept, LEN);
  REQUIRE(gfsmith_check(codec, LEN, in, &ok) == GFSMITH_OK && !ok);
  encode(codec, k, m, LEN);
  for (unsigned i = 0; i < k + m; i++)
    present[i] = i != 1 && i != k + 1;
  memset(memory[1], 0xee, LEN);
  memset(memory[k + 1], 0xee, LEN);
  REQUIRE(gfsmith_reconstruct(codec, LEN, shards, present, NULL) == GFSMITH_OK);
  REQUIRE(memcmp(memory[1], kept, LEN) == 0);
  REQUIRE(memcmp(memory[k + 1], expected[k + 1], LEN) == 0);
}

static void finish(gfsmith_codec *codec, unsigned k, unsigned m) {
  exercise(codec, k, m);
  gfsmith_codec_destroy(codec);
}

/* The path of a call at the bounds that path.h explains. */
static void paths(void) {
  const gfs_limits limits = {
      .first_cache = 32000, .own_cache = (size_t)512 << 10, .stream_min = 1024};
  const gfsmith_hint A = GFSMITH_HINT_AUTO, C = GFSMITH_HINT_CACHED, S = GFSMITH_HINT_STREAMING;
  const struct {
    gfsmith_hint hint;
    unsigned shards;
    size_t len;
    gfs_path path;
  } cases[] = {
      {A, 14, 1, GFS_PATH_cached},        {A, 16, 2000, GFS_PATH_cached},
      {A, 16, 2001, GFS_PATH_second},     {C, 16, 2000, GFS_PATH_cached},
      {C, 16, 2001, GFS_PATH_second},     {A, 16, 32768, GFS_PATH_second},
      {A, 16, 32769, GFS_PATH_bulk},      {A, 255, 2056, GFS_PATH_second},
      {A, 255, 2057, GFS_PATH_distant},   {A, 2, SIZE_MAX, GFS_PATH_bulk},
      {A, 255, SIZE_MAX, GFS_PATH_bulk},  {C, 2, SIZE_MAX, GFS_PATH_second},
      {C, 255, 1 << 20, GFS_PATH_second}, {S, 2, 1023, GFS_PATH_nearby},
      {S, 2, 1024, GFS_PATH_distant},     {S, 255, 1, GFS_PATH_nearby},
      {S, 255, 1024, GFS_PATH_distant},   {S, 2, 16383, GFS_PATH_distant},
      {S, 2, 16384, GFS_PATH_bulk},
  };
  for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
    REQUIRE(gfs_path_within(&limits, cases[n].hint, cases[n].shards, cases[n].len) ==
            cases[n].path);
}

static void hints(void) {
  gfsmith_codec *codec = make(3, 3, known);
  bool ok = false;
  encode(codec, 3, 3, LEN);
  REQUIRE(called(0, 1, 0, 0, 0));
  REQUIRE(gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) == GFSMITH_OK);
  encode(codec, 3, 3, LEN);
  REQUIRE(called(0, 0, 0, 1, 0));
  encode(codec, 3, 3, gfs_limits_here()->stream_min - 1);
  REQUIRE(called(0, 0, 1, 0, 0));
  encode(codec, 3, 3, LEN);
  forget_calls();
  REQUIRE(gfsmith_check(codec, LEN, in, &ok) == GFSMITH_OK && ok);
  REQUIRE(calls_nearby > 0 && calls_distant == 0 && calls_long == 0);
  REQUIRE(gfsmith_codec_hint(codec, GFSMITH_HINT_CACHED) == GFSMITH_OK);
  forget_calls();
  encode(codec, 3, 3, LEN);
  REQUIRE(called(0, 1, 0, 0, 0));
  finish(codec, 3, 3);
}

/* Other rows before and after: the known rows in between are found, of two matrices the one with
 * more rows. */
static void placement(void) {
  static const uint8_t between[] = {7, 8, 9, 9, 9, 9, 1, 2, 4, 1, 3, 5, 1, 4, 16, 6, 6, 5};
  static const uint8_t twice[] = {1, 2, 4, 1, 3, 5, 1, 2, 4, 1, 3, 5, 1, 4, 16};
  static const uint8_t cut[] = {5, 5, 5, 1, 2, 4};
  gfsmith_codec *codec = make(3, 6, between);
  encode(codec, 3, 6, LEN);
  REQUIRE(called(0, 1, 0, 0, 0));
  finish(codec, 3, 6);
  codec = make(3, 5, twice);
  encode(codec, 3, 5, LEN);
  REQUIRE(called(1, 1, 0, 0, 0));
  finish(codec, 3, 5);
  codec = make(3, 2, cut);
  encode(codec, 3, 2, LEN);
  REQUIRE(called(0, 0, 0, 0, 0));
  finish(codec, 3, 2);
  codec = make(3, 4, known); /* streamed_3x4 fits, but only longer_3x3 has the required kernels */
  encode(codec, 3, 4, LEN);
  REQUIRE(called(0, 1, 0, 0, 0));
  finish(codec, 3, 4);
}

int main(void) {
  uint64_t seed = 5;
  for (unsigned i = 0; i < MAX; i++) {
    in[i] = shards[i] = memory[i];
    reference[i] = expected[i];
    for (unsigned b = 0; b < LEN; b++)
      memory[i][b] = expected[i][b] = (uint8_t)reference_random(&seed);
  }
  REQUIRE(gfsmith_set_isa("scalar") == GFSMITH_OK);
  paths();
  hints();
  placement();
  gfsmith_codec *codec = make(2, 11, wide);
  encode(codec, 2, 11, LEN);
  REQUIRE(called(0, 0, 0, 0, 1));
  finish(codec, 2, 11);
  /* The same bytes over another field are another matrix. */
  REQUIRE(gfsmith_codec_create_matrix(&codec, 0x12b, 3, 3, known) == GFSMITH_OK);
  forget_calls();
  REQUIRE(gfsmith_encode(codec, LEN, in, shards + 3) == GFSMITH_OK);
  REQUIRE(called(0, 0, 0, 0, 0));
  gfsmith_codec_destroy(codec);
  puts("ok");
  return 0;
}
