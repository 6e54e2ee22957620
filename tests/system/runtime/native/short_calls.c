/* short_calls: calls that run one kernel at once give the bytes of a byte-by-byte reference, and
 * refuse every NULL without writing: in cache, with every hint, in packet layout, and at lengths
 * that are not short. */
#include <string.h>

#include "codec.h"
#include "ending.h"
#include "gfsmith.h"
#include "gfsmith_raid.h"
#include "raid.h"
#include "reference.h"

enum { MOST_DATA = 33, MOST_PARITIES = 6, MOST_SHARDS = MOST_DATA + MOST_PARITIES };

/* A short length, one that is not the shortest, one of half of the cache for some shards, and one
 * beyond it. */
static const size_t lengths[] = {70, 200, 12000, GFS_OWN_CACHE_LEAST + 1};
enum { LONGEST = GFS_OWN_CACHE_LEAST + 1 };

static uint8_t *shard[MOST_SHARDS], *expected[MOST_SHARDS];

static const uint8_t *const *data(void) { return (const uint8_t *const *)shard; }

static void allocate(void) {
  uint64_t state = 1;
  for (unsigned n = 0; n < MOST_SHARDS; n++) {
    REQUIRE((shard[n] = malloc(LONGEST)) != NULL && (expected[n] = malloc(LONGEST)) != NULL);
    for (size_t b = 0; b < LONGEST; b++)
      shard[n][b] = expected[n][b] = (uint8_t)reference_random(&state);
  }
}

static void release(void) {
  for (unsigned n = 0; n < MOST_SHARDS; n++) {
    free(shard[n]);
    free(expected[n]);
  }
}

static void require_equal(unsigned count) {
  for (unsigned n = 0; n < count; n++)
    REQUIRE(memcmp(shard[n], expected[n], LONGEST) == 0);
}

/* The call without shard n. */
typedef gfsmith_status refused(const void *of, size_t len);

static void require_refusal(refused *call, const void *of, size_t len, unsigned first,
                            unsigned end) {
  for (unsigned n = first; n < end; n++) {
    uint8_t *kept = shard[n];
    shard[n] = NULL;
    REQUIRE(call(of, len) == GFSMITH_EINVAL);
    shard[n] = kept;
    require_equal(end);
  }
}

static gfsmith_status encode(const void *of, size_t len) {
  const gfsmith_codec *codec = of;
  return gfsmith_encode(codec, len, data(), shard + codec->k);
}

/* The last data shard changes by the first one. */
static gfsmith_status update(const void *of, size_t len) {
  const gfsmith_codec *codec = of;
  return gfsmith_update(codec, len, codec->k - 1, shard[0], shard + codec->k);
}

static void change_expected(unsigned k, unsigned m, size_t len) {
  for (unsigned i = 0; i < m; i++) {
    const uint8_t *product = reference_products()[reference_cauchy(k, i, k - 1)];
    for (size_t b = 0; b < len; b++)
      expected[k + i][b] ^= product[shard[0][b]];
  }
}

static void test_codec(gfsmith_codec *codec, size_t len) {
  unsigned k = codec->k, m = codec->m;
  reference_encode(k, m, len, expected);
  REQUIRE(encode(codec, len) == GFSMITH_OK);
  require_equal(k + m);
  for (unsigned j = 0; j < k; j++)
    REQUIRE(gfsmith_append(codec, len, j, shard[j], shard + k, j == 0) == GFSMITH_OK);
  require_equal(k + m);
  change_expected(k, m, len);
  REQUIRE(update(codec, len) == GFSMITH_OK);
  require_equal(k + m);
  REQUIRE(gfsmith_update(codec, len, k, shard[0], shard + k) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_update(codec, len, 0, NULL, shard + k) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_update(codec, len, 0, shard[0], NULL) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_encode(codec, len, NULL, shard + k) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_encode(codec, len, data(), NULL) == GFSMITH_EINVAL);
  require_refusal(encode, codec, len, 0, k + m);
  require_refusal(update, codec, len, k, k + m);
  require_equal(k + m);
}

/* A call in cache is short if it is one pass; an encoding, if its kernel returns 0 or is in C. */
static void require_short(const gfsmith_codec *codec, size_t encoded, size_t updated) {
  bool encodes = codec->encoder->dots == 1 && gfs_may_end_calls(codec->isa);
  REQUIRE(codec->short_encode == (encodes ? encoded : 0));
  REQUIRE(codec->short_update.most == (codec->encoder->mads == 1 ? updated : 0));
}

/* Let one kernel serve both levels of cache, as on a CPU without tuned kernels. */
static void serve_both(gfsmith_codec *codec) {
  gfs_adder *adder = codec->adders->pass;
  gfsmith_kernel **kernels[] = {codec->encoder->pass->kernel, adder->set, adder->add[0]};
  for (unsigned n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
    kernels[n][GFS_PATH_second] = kernels[n][GFS_PATH_cached];
  gfs_codec_find_short(codec);
}

static void test_hints(unsigned k, unsigned m) {
  gfsmith_codec *codec;
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", k, m) == GFSMITH_OK);
  REQUIRE(codec->short_update.most > 0 || codec->encoder->mads != 1);
  serve_both(codec);
  require_short(codec, GFS_OWN_CACHE_LEAST / (k + m), GFS_OWN_CACHE_LEAST / (1 + m));
  for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
    if (n == 0 || (k == 10 && m == 4))
      test_codec(codec, lengths[n]);
  REQUIRE(gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) == GFSMITH_OK);
  require_short(codec, 0, 0);
  test_codec(codec, lengths[0]);
  REQUIRE(gfsmith_codec_hint(codec, GFSMITH_HINT_CACHED) == GFSMITH_OK);
  require_short(codec, SIZE_MAX, SIZE_MAX);
  test_codec(codec, lengths[0]);
  gfsmith_codec_destroy(codec);
}

static struct {
  gfsmith_kernel *first;
  unsigned calls;
} second;

static void count_second(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,
                         uint8_t *const *dst) {
  second.calls++;
  second.first(len, k, coeffs, src, dst);
}

/* Let calls of these kernels in the second level be counted. */
static void replace(gfsmith_kernel **kernels) {
  second.first = kernels[GFS_PATH_cached];
  kernels[GFS_PATH_second] = count_second;
}

static void require_second(const gfsmith_codec *codec, refused *call, size_t len, unsigned calls) {
  REQUIRE(call(codec, len) == GFSMITH_OK && second.calls == calls);
  second.calls = 0;
  if (call == update)
    change_expected(codec->k, codec->m, len);
  else
    reference_encode(codec->k, codec->m, len, expected);
  require_equal(codec->k + codec->m);
}

static gfsmith_status encode_two(const void *of, size_t len) {
  const gfsmith_codec *codec = of;
  const uint8_t *sources[2 * MOST_DATA];
  uint8_t *parities[2 * MOST_PARITIES];
  for (unsigned n = 0; n < 2 * codec->k; n++)
    sources[n] = shard[n % codec->k];
  for (unsigned n = 0; n < 2 * codec->m; n++)
    parities[n] = shard[codec->k + n % codec->m];
  return gfsmith_encode_stripes(codec, len, 2, sources, parities);
}

/* Calls that fit into the first level of the cache run its kernel, longer ones that of the second
 * level. */
static void test_levels(void) {
  enum { K = 10, M = 4 };
  gfsmith_codec *codec;
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", K, M) == GFSMITH_OK);
  serve_both(codec);
  size_t first = gfs_limits_here()->first_cache / (K + M);
  for (gfsmith_hint hint = GFSMITH_HINT_AUTO; hint <= GFSMITH_HINT_CACHED; hint++) {
    replace(codec->encoder->pass->kernel);
    REQUIRE(gfsmith_codec_hint(codec, hint) == GFSMITH_OK);
    require_short(codec, GFS_FIRST_CACHE_LEAST / (K + M),
                  hint == GFSMITH_HINT_CACHED ? SIZE_MAX : GFS_OWN_CACHE_LEAST / (1 + M));
    require_second(codec, encode, first, 0);
    require_second(codec, encode, first + 1, 1);
    require_second(codec, encode_two, first / 2, 0);
    require_second(codec, encode_two, first / 2 + 1, 2);
    serve_both(codec);
  }
  gfs_adder *adder = codec->adders->pass;
  for (unsigned n = 0; n < 2; n++) {
    replace(n == 0 ? adder->set : adder->add[0]);
    gfs_codec_find_short(codec);
    require_short(codec, SIZE_MAX, GFS_FIRST_CACHE_LEAST / (1 + M));
    serve_both(codec);
  }
  replace(adder->add[0]);
  gfs_codec_find_short(codec);
  first = gfs_limits_here()->first_cache / (1 + M);
  require_second(codec, update, first, 0);
  require_second(codec, update, first + 1, 1);
  gfsmith_codec_destroy(codec);
}

/* A codec whose layout changes: the parities are valid in the layout of the moment. */
static void test_packets(void) {
  gfsmith_codec *codec;
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", 4, 2) == GFSMITH_OK);
  for (unsigned n = 0; n < 3; n++) {
    bool ok = false;
    REQUIRE(gfsmith_codec_packets(codec, n == 1 ? 8 : 0) == GFSMITH_OK);
    REQUIRE(encode(codec, 64) == GFSMITH_OK);
    REQUIRE(gfsmith_check(codec, 64, data(), &ok) == GFSMITH_OK && ok);
    REQUIRE(update(codec, 64) == GFSMITH_OK);
    for (unsigned b = 0; b < 64; b++)
      shard[3][b] ^= shard[0][b];
    REQUIRE(gfsmith_check(codec, 64, data(), &ok) == GFSMITH_OK && ok);
    memcpy(shard[3], expected[3], 64);
    REQUIRE(encode(codec, n == 1 ? 60 : 0) == (n == 1 ? GFSMITH_EINVAL : GFSMITH_OK));
  }
  for (unsigned n = 4; n < 6; n++)
    memcpy(expected[n], shard[n], LONGEST);
  gfsmith_codec_destroy(codec);
}

typedef struct array {
  unsigned k, m;
} array;

static gfsmith_status generate_in(const array *a, size_t len, uint8_t *const *shards) {
  if (a->m == 1)
    return gfsmith_xor_gen(a->k, len, shards);
  return a->m == 2 ? gfsmith_pq_gen(a->k, len, shards) : gfsmith_pqr_gen(a->k, len, shards);
}

static gfsmith_status generate(const void *of, size_t len) { return generate_in(of, len, shard); }

/* expected[k + i] = sum over j of (2^i)^j data[j], by Horner's rule. */
static void expect_parities(const array *a, size_t len) {
  for (unsigned i = 0; i < a->m; i++)
    for (size_t b = 0; b < len; b++) {
      uint8_t sum = 0;
      for (unsigned j = a->k; j-- > 0;)
        sum = reference_products()[1u << i][sum] ^ shard[j][b];
      expected[a->k + i][b] = sum;
    }
}

static void test_raid(array a, size_t len) {
  expect_parities(&a, len);
  for (unsigned n = 0; n < 2; n++) { /* the first call looks up the kernel */
    for (unsigned i = 0; i < a.m; i++)
      shard[a.k + i][0] ^= 1;
    REQUIRE(generate(&a, len) == GFSMITH_OK);
    require_equal(a.k + a.m);
  }
  require_refusal(generate, &a, len, 0, a.k + a.m);
  REQUIRE(generate_in(&a, len, NULL) == GFSMITH_EINVAL);
  REQUIRE(generate(&a, 0) == GFSMITH_OK && generate_in(&a, 0, NULL) == GFSMITH_OK);
  require_equal(a.k + a.m);
}

/* After a choice of the instruction set, calls look up their kernels again. */
static void test_choice(void) {
  const gfs_isa *isa = gfs_dispatch_isa();
  for (unsigned m = 1; m <= GFS_RAID_PARITIES; m++) {
    const gfs_short_sums *sums = &gfs_dispatch_sums[m - 1];
    array a = {5, m};
    test_raid(a, lengths[0]);
    REQUIRE(gfs_raid_is_short(sums, a.k, lengths[0]) == gfs_may_end_calls(isa));
    REQUIRE(gfsmith_set_isa(isa->name) == GFSMITH_OK);
    for (unsigned k = 0; k <= GFS_SUMS_DATA; k++)
      REQUIRE(!gfs_raid_is_short(sums, k, 1));
    test_raid(a, lengths[0]);
    REQUIRE(gfs_raid_is_short(sums, a.k, lengths[0]) == gfs_may_end_calls(isa));
  }
}

/* Sums of few shards run the kernels for exactly this number. */
static void test_sums_of_few(void) {
  const gfs_isa *isa = gfs_dispatch_isa();
  gfsmith_kernel *any = gfs_dispatch_kernel(isa, GFS_OPERATION_xor, 0, 1, GFS_PATH_cached);
  for (unsigned k = 2; k <= 4; k++) {
    gfs_raid_pass pass;
    REQUIRE(gfs_raid_generator(&pass, k, 1, GFS_PATH_cached) == GFSMITH_OK);
    REQUIRE(pass.kernel == gfs_dispatch_kernel(isa, GFS_OPERATION_xor, k, 1, GFS_PATH_cached));
    REQUIRE(pass.kernel != any && pass.inputs == k);
  }
}

int main(void) {
  allocate();
  for (unsigned k = 1; k <= 10; k++)
    for (unsigned m = 1; m <= MOST_PARITIES; m++)
      test_hints(k, m);
  test_packets();
  test_levels();
  test_sums_of_few();
  /* First with as many data shards as a known matrix of P and Q has. */
  test_raid((array){4, 3}, lengths[0]);
  test_raid((array){4, 1}, lengths[0]);
  for (unsigned k = 1; k <= MOST_DATA; k = k == 13 ? MOST_DATA - 1 : k + 1)
    for (unsigned m = 1; m <= 3; m++)
      for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
        if (n == 0 || k == 10)
          test_raid((array){k, m}, lengths[n]);
  test_choice();
  release();
  puts("ok");
  return 0;
}
