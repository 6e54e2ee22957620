/* batches: batch calls against one call for each stripe: bytes, results, statuses. */
#include <string.h>

#include "codec.h"
#include "gfsmith.h"
#include "reference.h"

typedef struct shape {
  const char *code; /* NULL: a local code */
  unsigned k, m;
  size_t packet;
} shape;

/* A known matrix alone and with another pass, tables in one and in several passes, also for more
 * sources than there are and by a buffer, many shards, a sum, local groups, packets.
 */
static const shape shapes[] = {
    {"cauchy", 10, 4, 0},   {"cauchy", 10, 5, 0}, {"zfec", 5, 3, 0}, {"cauchy", 20, 12, 0},
    {"cauchy", 200, 55, 0}, {"lch", 3, 1, 0},     {NULL, 6, 4, 0},   {"cauchy_good", 5, 3, 24},
    {"cauchy", 13, 4, 0},   {"cauchy", 9, 6, 0},
};
enum { MOST_SHARDS = 255, MOST_STRIPES = 1100, NOTED = 36, GUARD = 64 };

/* Lengths on all paths; stripes of the longest do not fit in a cache. */
static const size_t lengths[] = {1, 64, 192, 1344, 4992};
static const size_t long_length = 30720;
static const size_t counts[] = {1, 2, 9};

/* A call on the stripes of a copy of the same memory: one by one, as a batch, or strided. */
typedef enum call_form { SINGLE, POINTERS, STRIDED } call_form;

typedef struct call {
  const shape *shape;
  const gfsmith_codec *codec;
  size_t len, count;
  gfsmith_stride stride;
  uint8_t *first;   /* shard 0 of stripe 0 */
  uint8_t **shards; /* count * (k + m) pointers */
} call;

typedef gfsmith_status operation(const call *c, call_form form);

static unsigned width(const call *c) { return c->shape->k + c->shape->m; }

static uint8_t **stripe(const call *c, size_t s) { return c->shards + s * width(c); }

static const uint8_t *const *read_only(uint8_t *const *shards) {
  return (const uint8_t *const *)shards;
}

static void *allocate(size_t bytes) {
  void *memory = aligned_alloc(GUARD, (bytes + GUARD - 1) / GUARD * GUARD + GUARD);
  REQUIRE(memory != NULL);
  return memory;
}

static gfsmith_status encode(const call *c, call_form form) {
  unsigned k = c->shape->k, m = c->shape->m;
  gfsmith_status status = GFSMITH_OK;
  if (form == STRIDED)
    return gfsmith_encode_strided(c->codec, c->len, c->count, c->first, c->stride,
                                  c->first + k * c->stride.shard, c->stride);
  if (form == SINGLE) {
    for (size_t s = 0; s < c->count && status == GFSMITH_OK; s++)
      status = gfsmith_encode(c->codec, c->len, read_only(stripe(c, s)), stripe(c, s) + k);
    return status;
  }
  const uint8_t **data = allocate(c->count * k * sizeof *data);
  uint8_t **parity = allocate(c->count * m * sizeof *parity);
  for (size_t s = 0; s < c->count; s++) {
    memcpy(data + s * k, stripe(c, s), k * sizeof *data);
    memcpy(parity + s * m, stripe(c, s) + k, m * sizeof *parity);
  }
  status = gfsmith_encode_stripes(c->codec, c->len, c->count, data, parity);
  free(data);
  free(parity);
  return status;
}

/* The delta of stripe s is its first data shard. */
static gfsmith_status update(const call *c, call_form form) {
  unsigned k = c->shape->k, m = c->shape->m, indices[MOST_STRIPES];
  const uint8_t *deltas[MOST_STRIPES];
  gfsmith_status status = GFSMITH_OK;
  uint8_t **parity = allocate(c->count * m * sizeof *parity);
  for (size_t s = 0; s < c->count; s++) {
    indices[s] = (unsigned)(s + s / 300) % k; /* not periodic in blocks */
    deltas[s] = stripe(c, s)[0];
    memcpy(parity + s * m, stripe(c, s) + k, m * sizeof *parity);
  }
  if (form == STRIDED)
    status = gfsmith_update_strided(c->codec, c->len, c->count, indices, c->first, c->stride.stripe,
                                    c->first + k * c->stride.shard, c->stride);
  else if (form == POINTERS)
    status = gfsmith_update_stripes(c->codec, c->len, c->count, indices, deltas, parity);
  else
    for (size_t s = 0; s < c->count && status == GFSMITH_OK; s++)
      status = gfsmith_update(c->codec, c->len, indices[s], deltas[s], parity + s * m);
  free(parity);
  return status;
}

static gfsmith_status repair(const call *c, call_form form, const bool *present,
                             const bool *wanted) {
  gfsmith_status status = GFSMITH_OK;
  if (form == STRIDED)
    return gfsmith_reconstruct_strided(c->codec, c->len, c->count, c->first, c->stride, present,
                                       wanted);
  if (form == POINTERS)
    return gfsmith_reconstruct_stripes(c->codec, c->len, c->count, c->shards, present, wanted);
  for (size_t s = 0; s < c->count && status == GFSMITH_OK; s++)
    status = gfsmith_reconstruct(c->codec, c->len, stripe(c, s), present, wanted);
  return status;
}

/* Rebuild the first data shard and, if there are two parities, the first of them. */
static gfsmith_status reconstruct(const call *c, call_form form) {
  bool present[MOST_SHARDS];
  for (unsigned n = 0; n < width(c); n++)
    present[n] = n != 0 && (n != c->shape->k || c->shape->m == 1);
  return repair(c, form, present, NULL);
}

static gfsmith_status reconstruct_parity(const call *c, call_form form) {
  bool present[MOST_SHARDS];
  for (unsigned n = 0; n < width(c); n++)
    present[n] = n != c->shape->k;
  return repair(c, form, present, NULL);
}

static gfsmith_status reconstruct_nothing(const call *c, call_form form) {
  bool present[MOST_SHARDS], wanted[MOST_SHARDS] = {false};
  for (unsigned n = 0; n < width(c); n++)
    present[n] = n != 1;
  return repair(c, form, present, wanted);
}

/* The results of a check, as bytes in the first shard of each stripe. */
static gfsmith_status check(const call *c, call_form form) {
  bool ok[MOST_STRIPES];
  gfsmith_status status = GFSMITH_OK;
  memset(ok, 2, sizeof ok);
  if (form == STRIDED)
    status = gfsmith_check_strided(c->codec, c->len, c->count, c->first, c->stride, ok);
  else if (form == POINTERS)
    status = gfsmith_check_stripes(c->codec, c->len, c->count, read_only(c->shards), ok);
  else
    for (size_t s = 0; s < c->count && status == GFSMITH_OK; s++)
      status = gfsmith_check(c->codec, c->len, read_only(stripe(c, s)), &ok[s]);
  for (size_t s = 0; s < c->count; s++)
    *stripe(c, s)[0] = ok[s];
  return status;
}

/* Make the parities of every stripe but those whose number is a multiple of three right. */
static gfsmith_status check_mixed(const call *c, call_form form) {
  for (size_t s = 0; s < c->count; s++) {
    uint8_t **shard = stripe(c, s);
    REQUIRE(gfsmith_encode(c->codec, c->len, read_only(shard), shard + c->shape->k) == GFSMITH_OK);
    if (s % 3 == 0)
      shard[width(c) - 1][c->len - 1] ^= 1;
  }
  return check(c, form);
}

static gfsmith_codec *codec_of(const shape *s, gfsmith_hint hint) {
  gfsmith_codec *codec;
  gfsmith_status status = s->code != NULL ? gfsmith_codec_create(&codec, s->code, s->k, s->m)
                                          : gfsmith_codec_create_lrc(&codec, s->k, s->m - 2, 2);
  REQUIRE(status == GFSMITH_OK);
  REQUIRE(gfsmith_codec_packets(codec, s->packet) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_hint(codec, hint) == GFSMITH_OK);
  return codec;
}

/* Perform the operation in a form on memory with the seed's contents; return the memory. */
static uint8_t *result(call *c, operation *run, call_form form, size_t bytes, size_t offset) {
  uint64_t seed = 7;
  uint8_t *memory = allocate(bytes);
  for (size_t n = 0; n < bytes; n++)
    memory[n] = (uint8_t)reference_random(&seed);
  c->first = memory + GUARD + offset;
  c->shards = allocate(c->count * width(c) * sizeof *c->shards);
  for (size_t s = 0; s < c->count; s++)
    for (unsigned n = 0; n < width(c); n++)
      stripe(c, s)[n] = c->first + s * c->stride.stripe + n * c->stride.shard;
  REQUIRE(run(c, form) == GFSMITH_OK);
  free(c->shards);
  return memory;
}

static void compare(call *c, operation *run, size_t offset) {
  size_t bytes = c->count * c->stride.stripe + width(c) * c->stride.shard + 2 * GUARD;
  uint8_t *expected = result(c, run, SINGLE, bytes, offset);
  for (call_form form = POINTERS; form <= STRIDED; form++) {
    uint8_t *found = result(c, run, form, bytes, offset);
    REQUIRE(memcmp(expected, found, bytes) == 0);
    free(found);
  }
  free(expected);
}

static operation *const operations[] = {encode,      update, reconstruct, reconstruct_nothing,
                                        check_mixed, check};

/* All operations; stripes one after the other, and shards one after the other. */
static void compare_all(const shape *s, const gfsmith_codec *codec, size_t len, size_t count) {
  size_t distance = (len + GUARD) / GUARD * GUARD + GUARD;
  call c = {.shape = s, .codec = codec, .len = len, .count = count};
  for (size_t n = 0; n < sizeof operations / sizeof operations[0]; n++) {
    c.stride = (gfsmith_stride){distance, distance * width(&c)};
    compare(&c, operations[n], 0);
    c.stride = (gfsmith_stride){len * count + 1, len};
    compare(&c, operations[n], 3);
  }
}

static void test_shape(const shape *s, gfsmith_hint hint) {
  gfsmith_codec *codec = codec_of(s, hint);
  size_t unit = s->packet > 0 ? 8 * s->packet : 1;
  for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
      if (s->k < 100 || lengths[n] <= 192)
        compare_all(s, codec, (lengths[n] + unit - 1) / unit * unit, counts[i]);
  /* More stripes than a strided call has pointers for. */
  if (s->k == 5 && s->packet == 0)
    compare_all(s, codec, 2, MOST_STRIPES);
  if (s->k < 20)
    compare_all(s, codec, (long_length + unit - 1) / unit * unit, 3);
  gfsmith_codec_destroy(codec);
}

/* The repair of a parity that is always 0 reads no shard. */
static void test_repair_without_inputs(void) {
  enum { K = 4, M = 2 };
  static const uint8_t matrix[M * K] = {0, 0, 0, 0, 1, 2, 3, 4};
  static const shape s = {.k = K, .m = M};
  for (size_t packet = 0; packet <= 8; packet += 8) {
    gfsmith_codec *codec;
    REQUIRE(gfsmith_codec_create_matrix(&codec, 0x11d, K, M, matrix) == GFSMITH_OK);
    REQUIRE(gfsmith_codec_packets(codec, packet) == GFSMITH_OK);
    REQUIRE(gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) == GFSMITH_OK);
    call c = {.shape = &s, .codec = codec, .len = 192, .count = 3, .stride = {192, 192 * (K + M)}};
    compare(&c, reconstruct_parity, 0);
    gfsmith_codec_destroy(codec);
  }
}

/* Are the bytes unchanged by all of these calls, which must fail? */
static void test_errors(void) {
  enum { K = 4, M = 2, LEN = 80, COUNT = 3, SHARDS = (K + M) * COUNT };
  static const shape s = {"cauchy", K, M, 0};
  uint8_t memory[SHARDS][LEN] = {{0}}, copy[SHARDS][LEN];
  uint8_t *shards[SHARDS], *parity[M * COUNT], *given;
  const uint8_t *data[K * COUNT], *kept;
  gfsmith_codec *codec = codec_of(&s, GFSMITH_HINT_AUTO);
  unsigned indices[COUNT] = {0, 1, 2};
  bool present[K + M] = {true, false, true, true, true, true}, ok[COUNT] = {true, true, true};
  gfsmith_stride stride = {LEN, LEN * (K + M)}, near = {LEN - 1, LEN * (K + M)}, over = {LEN, 1};
  for (unsigned n = 0; n < SHARDS; n++) {
    memset(memory[n], (int)n + 1, LEN);
    shards[n] = memory[n];
  }
  for (unsigned n = 0; n < COUNT; n++) {
    memcpy(data + n * K, shards + n * (K + M), sizeof *data * K);
    memcpy(parity + n * M, shards + n * (K + M) + K, sizeof *parity * M);
  }
  memcpy(copy, memory, sizeof copy);
#define REFUSED(call) REQUIRE((call) == GFSMITH_EINVAL && memcmp(copy, memory, sizeof copy) == 0)
  REFUSED(gfsmith_encode_stripes(NULL, LEN, COUNT, data, parity));
  REFUSED(gfsmith_encode_stripes(codec, LEN, COUNT, NULL, parity));
  REFUSED(gfsmith_encode_stripes(codec, LEN, COUNT, data, NULL));
  REFUSED(gfsmith_encode_strided(NULL, LEN, COUNT, memory[0], stride, memory[K], stride));
  REFUSED(gfsmith_encode_strided(codec, LEN, COUNT, NULL, stride, memory[K], stride));
  REFUSED(gfsmith_encode_strided(codec, LEN, COUNT, memory[0], stride, NULL, stride));
  REFUSED(gfsmith_encode_strided(codec, LEN, COUNT, memory[0], stride, memory[K], near));
  REFUSED(gfsmith_encode_strided(codec, LEN, COUNT, memory[0], stride, memory[K], over));
  REFUSED(gfsmith_update_stripes(NULL, LEN, COUNT, indices, data, parity));
  REFUSED(gfsmith_update_stripes(codec, LEN, COUNT, NULL, data, parity));
  REFUSED(gfsmith_update_stripes(codec, LEN, COUNT, indices, NULL, parity));
  REFUSED(gfsmith_update_stripes(codec, LEN, COUNT, indices, data, NULL));
  REFUSED(gfsmith_update_strided(NULL, LEN, COUNT, indices, memory[0], LEN, memory[K], stride));
  REFUSED(gfsmith_update_strided(codec, LEN, COUNT, NULL, memory[0], LEN, memory[K], stride));
  REFUSED(gfsmith_update_strided(codec, LEN, COUNT, indices, NULL, LEN, memory[K], stride));
  REFUSED(gfsmith_update_strided(codec, LEN, COUNT, indices, memory[0], LEN, NULL, stride));
  REFUSED(gfsmith_update_strided(codec, LEN, COUNT, indices, memory[0], LEN, memory[K], near));
  REFUSED(gfsmith_reconstruct_stripes(NULL, LEN, COUNT, shards, present, NULL));
  REFUSED(gfsmith_reconstruct_stripes(codec, LEN, COUNT, NULL, present, NULL));
  REFUSED(gfsmith_reconstruct_stripes(codec, LEN, COUNT, shards, NULL, NULL));
  REFUSED(gfsmith_reconstruct_strided(NULL, LEN, COUNT, memory[0], stride, present, NULL));
  REFUSED(gfsmith_reconstruct_strided(codec, LEN, COUNT, NULL, stride, present, NULL));
  REFUSED(gfsmith_reconstruct_strided(codec, LEN, COUNT, memory[0], over, present, NULL));
  REFUSED(gfsmith_reconstruct_strided(codec, LEN, COUNT, memory[0], stride, NULL, NULL));
  REFUSED(gfsmith_check_stripes(NULL, LEN, COUNT, read_only(shards), ok));
  REFUSED(gfsmith_check_stripes(codec, LEN, COUNT, NULL, ok));
  REFUSED(gfsmith_check_stripes(codec, LEN, COUNT, read_only(shards), NULL));
  REFUSED(gfsmith_check_strided(NULL, LEN, COUNT, memory[0], stride, ok));
  REFUSED(gfsmith_check_strided(codec, LEN, COUNT, NULL, stride, ok));
  REFUSED(gfsmith_check_strided(codec, LEN, COUNT, memory[0], stride, NULL));
  REFUSED(gfsmith_prefetch(NULL, LEN, data));
  REFUSED(gfsmith_prefetch(codec, LEN, NULL));
  /* One pointer of the last stripe. */
  kept = data[K * COUNT - 1], data[K * COUNT - 1] = NULL;
  REFUSED(gfsmith_encode_stripes(codec, LEN, COUNT, data, parity));
  data[K * COUNT - 1] = kept;
  given = parity[M * COUNT - 1], parity[M * COUNT - 1] = NULL;
  REFUSED(gfsmith_encode_stripes(codec, LEN, COUNT, data, parity));
  REFUSED(gfsmith_update_stripes(codec, LEN, COUNT, indices, data, parity));
  parity[M * COUNT - 1] = given;
  kept = data[COUNT - 1], data[COUNT - 1] = NULL;
  REFUSED(gfsmith_update_stripes(codec, LEN, COUNT, indices, data, parity));
  data[COUNT - 1] = kept;
  given = shards[SHARDS - K - M + 1], shards[SHARDS - K - M + 1] = NULL;
  REFUSED(gfsmith_reconstruct_stripes(codec, LEN, COUNT, shards, present, NULL));
  REFUSED(gfsmith_check_stripes(codec, LEN, COUNT, read_only(shards), ok));
  shards[SHARDS - K - M + 1] = given;
  /* An index of the last stripe. */
  indices[COUNT - 1] = K;
  REFUSED(gfsmith_update_stripes(codec, LEN, COUNT, indices, data, parity));
  REFUSED(gfsmith_update_strided(codec, LEN, COUNT, indices, memory[0], LEN, memory[K], stride));
  present[2] = present[3] = false;
  REQUIRE(gfsmith_reconstruct_stripes(codec, LEN, COUNT, shards, present, NULL) ==
          GFSMITH_ETOOMANY);
  REQUIRE(gfsmith_reconstruct_strided(codec, LEN, COUNT, memory[0], stride, present, NULL) ==
          GFSMITH_ETOOMANY);
  REQUIRE(gfsmith_reconstruct_stripes(codec, 0, 0, NULL, present, NULL) == GFSMITH_ETOOMANY);
  REQUIRE(memcmp(copy, memory, sizeof copy) == 0);
  gfsmith_codec_destroy(codec);
}

/* Is a missing pointer of any stripe found, whose pointers are read in groups? */
static void test_missing_pointers(void) {
  enum { K = 5, M = 3, MOST = 16 };
  static const shape s = {"cauchy", K, M, 0};
  gfsmith_codec *codec = codec_of(&s, GFSMITH_HINT_AUTO);
  uint8_t memory[(K + M) * MOST] = {0}, *parity[M * MOST];
  const uint8_t *data[K * MOST];
  for (unsigned n = 0; n < K * MOST; n++)
    data[n] = memory + n;
  for (unsigned n = 0; n < M * MOST; n++)
    parity[n] = memory + K * MOST + n;
  for (size_t count = 1; count <= MOST; count++) {
    REQUIRE(gfsmith_encode_stripes(codec, 1, count, data, parity) == GFSMITH_OK);
    for (size_t n = 0; n < K * count; n++) {
      data[n] = NULL;
      REQUIRE(gfsmith_encode_stripes(codec, 1, count, data, parity) == GFSMITH_EINVAL);
      data[n] = memory + n;
    }
    for (size_t n = 0; n < M * count; n++) {
      parity[n] = NULL;
      REQUIRE(gfsmith_encode_stripes(codec, 1, count, data, parity) == GFSMITH_EINVAL);
      parity[n] = memory + K * MOST + n;
    }
  }
  gfsmith_codec_destroy(codec);
}

/* Calls without bytes or without stripes succeed without pointers. */
static void test_empty(void) {
  static const shape s = {"cauchy", 4, 2, 0};
  gfsmith_codec *codec = codec_of(&s, GFSMITH_HINT_AUTO);
  const gfsmith_stride none = {0, 0};
  bool present[6] = {true, false, true, true, true, true}, ok[3] = {false, false, false};
  for (unsigned n = 0; n < 2; n++) {
    size_t len = n, count = 3 * (1 - n);
    REQUIRE(gfsmith_encode_stripes(codec, len, count, NULL, NULL) == GFSMITH_OK);
    REQUIRE(gfsmith_encode_strided(codec, len, count, NULL, none, NULL, none) == GFSMITH_OK);
    REQUIRE(gfsmith_update_stripes(codec, len, count, NULL, NULL, NULL) == GFSMITH_OK);
    REQUIRE(gfsmith_update_strided(codec, len, count, NULL, NULL, 0, NULL, none) == GFSMITH_OK);
    REQUIRE(gfsmith_reconstruct_stripes(codec, len, count, NULL, present, NULL) == GFSMITH_OK);
    REQUIRE(gfsmith_reconstruct_strided(codec, len, count, NULL, none, present, NULL) ==
            GFSMITH_OK);
    REQUIRE(gfsmith_check_stripes(codec, len, count, NULL, ok) == GFSMITH_OK);
    REQUIRE(ok[0] && ok[1] && ok[2]);
    ok[0] = ok[1] = ok[2] = n == 0 ? false : true;
    REQUIRE(gfsmith_check_strided(codec, len, count, NULL, none, ok) == GFSMITH_OK);
    REQUIRE(ok[0] && ok[1] && ok[2]);
  }
  REQUIRE(gfsmith_prefetch(codec, 0, NULL) == GFSMITH_OK);
  /* No length is wrong then. */
  REQUIRE(gfsmith_codec_packets(codec, 8) == GFSMITH_OK);
  REQUIRE(gfsmith_encode_stripes(codec, 1, 0, NULL, NULL) == GFSMITH_OK);
  REQUIRE(gfsmith_reconstruct_stripes(codec, 1, 0, NULL, present, NULL) == GFSMITH_OK);
  gfsmith_codec_destroy(codec);
}

/* A pipelined kernel that notes the sources that it is to prefetch. */
static struct {
  gfsmith_kernel *kernel; /* an ordinary one with the same result */
  const uint8_t *next[NOTED][MOST_SHARDS];
  unsigned calls;
} noted;

static void note(size_t len, size_t k, const uint8_t *tables, const uint8_t *const *src,
                 uint8_t *const *dst) {
  REQUIRE(noted.calls < sizeof noted.next / sizeof noted.next[0]);
  memcpy(noted.next[noted.calls++], src + k, k * sizeof *src);
  noted.kernel(len, k, tables, src, dst);
}

static void require_next(const call *c, unsigned stripes, unsigned first, unsigned inputs) {
  REQUIRE(noted.calls == stripes - 1);
  for (unsigned s = 1; s < stripes; s++)
    for (unsigned n = 0; n < inputs; n++)
      REQUIRE(noted.next[s - 1][n] ==
              c->first + s * c->stride.stripe + (first + n) * c->stride.shard);
  noted.calls = 0;
}

/* Each stripe but the last prefetches the data of the next one, also where the pointers of a
 * strided call are written in several blocks; not if the shards are in cache or too long. */
static void test_lookahead(void) {
  enum { K = 100, M = 4, LEN = 64, COUNT = NOTED };
  static const shape s = {"cauchy", K, M, 0};
  gfsmith_codec *codec = codec_of(&s, GFSMITH_HINT_STREAMING);
  noted.kernel = codec->encoder->pass->kernel[GFS_PATH_cached];
  codec->encoder->pass->pipelined = note;
  REQUIRE(codec->encoder->dots == 1);
  call c = {.shape = &s, .codec = codec, .len = LEN, .count = COUNT};
  c.stride = (gfsmith_stride){LEN, LEN * (K + M)};
  free(result(&c, encode, POINTERS, COUNT * c.stride.stripe, 0));
  require_next(&c, COUNT, 0, K);
  free(result(&c, encode, STRIDED, COUNT * c.stride.stripe, 0));
  require_next(&c, COUNT, 0, K);
  free(result(&c, encode, SINGLE, COUNT * c.stride.stripe, 0));
  REQUIRE(noted.calls == 0);
  REQUIRE(gfsmith_codec_hint(codec, GFSMITH_HINT_CACHED) == GFSMITH_OK);
  free(result(&c, encode, POINTERS, COUNT * c.stride.stripe, 0));
  REQUIRE(noted.calls == 0);
  REQUIRE(gfsmith_codec_hint(codec, GFSMITH_HINT_AUTO) == GFSMITH_OK);
  c = (call){
      .shape = &s, .codec = codec, .len = 4096, .count = 2, .stride = {4096, 4096 * (K + M)}};
  free(result(&c, encode, POINTERS, 2 * c.stride.stripe, 0));
  REQUIRE(noted.calls == 0);
  /* The shards of one stripe would fit in the cache, but not those of the whole call. */
  c = (call){
      .shape = &s, .codec = codec, .len = 1024, .count = 6, .stride = {1024, 1024 * (K + M)}};
  free(result(&c, encode, POINTERS, 6 * c.stride.stripe, 0));
  require_next(&c, 6, 0, K);
  gfsmith_codec_destroy(codec);
}

/* With an argument, only on the longest path. */
/* The same where a kernel has more sources than the codec: it reads the last one of each stripe
 * again. */
static void test_wide_lookahead(void) {
  enum { K = 13, M = 4, LEN = 64 };
  static const shape s = {"cauchy", K, M, 0};
  gfsmith_codec *codec = codec_of(&s, GFSMITH_HINT_STREAMING);
  gfs_pass *pass = codec->encoder->pass;
  if (pass->wide > 0) {
    noted.kernel = pass->kernel[GFS_PATH_cached];
    pass->pipelined = note;
    call c = {.shape = &s, .codec = codec, .len = LEN, .count = 2};
    c.stride = (gfsmith_stride){LEN, LEN * (K + M)};
    free(result(&c, encode, POINTERS, 2 * c.stride.stripe, 0));
    const uint8_t *last = noted.next[0][K - 1];
    for (unsigned n = K; n < pass->wide; n++)
      REQUIRE(noted.next[0][n] == last);
    require_next(&c, 2, 0, K);
  }
  gfsmith_codec_destroy(codec);
}

int main(int count, char **arguments) {
  (void)arguments;
  bool brief = count > 1;
  for (size_t n = 0; n < sizeof shapes / sizeof shapes[0]; n++) {
    test_shape(&shapes[n], GFSMITH_HINT_STREAMING);
    if (!brief)
      test_shape(&shapes[n], GFSMITH_HINT_CACHED);
  }
  if (!brief)
    test_shape(&shapes[0], GFSMITH_HINT_AUTO);
  test_lookahead();
  test_wide_lookahead();
  test_repair_without_inputs();
  test_errors();
  test_missing_pointers();
  test_empty();
  puts("ok");
}
