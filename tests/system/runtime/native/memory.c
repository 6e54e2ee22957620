/* memory: count the library's allocations, and let each of them fail in turn. Known repairs,
 * encoding, changes, checks and the search for a wrong shard must not allocate. Linked with --wrap
 * for every allocation function. */
#include <string.h>

#include "gfsmith.h"
#include "reference.h"

static unsigned long allocations, balance;
static unsigned long fail_at; /* number of the allocation that fails, from 1; 0: none */

void *__real_malloc(size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size) {
  if (++allocations == fail_at)
    return NULL;
  void *memory = __real_malloc(size);
  balance += memory != NULL;
  return memory;
}

void __wrap_free(void *memory) {
  balance -= memory != NULL;
  __real_free(memory);
}

/* The library uses only malloc; a call of another allocation function fails this test. */
void *__wrap_calloc(size_t count, size_t size) {
  (void)count, (void)size;
  abort();
}
void *__wrap_realloc(void *memory, size_t size) {
  (void)memory, (void)size;
  abort();
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  (void)alignment, (void)size;
  abort();
}
int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
  (void)out, (void)alignment, (void)size;
  abort();
}

enum { K = 20, M = 12, LEN = 40000, PACKET = 1000 };
static uint8_t memory[K + M][LEN], expected[K + M][LEN];
static uint8_t *shards[K + M];
static const uint8_t *in[K + M];

static void start(void) {
  allocations = 0;
  fail_at = 0;
}

/* Fails the first, second, ... allocation until the codec can be created. Returns the number of
 * allocations. */
static unsigned long create_failing(gfsmith_codec **codec) {
  for (unsigned long n = 1;; n++) {
    start();
    fail_at = n;
    *codec = (gfsmith_codec *)memory;
    gfsmith_status status = gfsmith_codec_create(codec, "cauchy", K, M);
    if (status == GFSMITH_OK)
      return n - 1;
    REQUIRE(status == GFSMITH_ENOMEM && *codec == NULL && balance == 0);
  }
}

/* The same for packet layout. After a failure the codec is unchanged, so the call is repeated. */
static unsigned long packets_failing(gfsmith_codec *codec) {
  unsigned long before = balance;
  bool ok = false;
  for (unsigned long n = 1;; n++) {
    start();
    fail_at = n;
    gfsmith_status status = gfsmith_codec_packets(codec, PACKET);
    if (status == GFSMITH_OK)
      return n - 1;
    REQUIRE(status == GFSMITH_ENOMEM && balance == before);
    REQUIRE(gfsmith_check(codec, LEN, in, &ok) == GFSMITH_OK && ok);
  }
}

static unsigned long reconstruct_failing(const gfsmith_codec *codec) {
  bool present[K + M];
  for (unsigned i = 0; i < K + M; i++)
    present[i] = i >= M;
  for (unsigned i = 0; i < M; i++)
    memset(memory[i], 0xee, LEN);
  unsigned long before = balance;
  for (unsigned long n = 1;; n++) {
    start();
    fail_at = n;
    gfsmith_status status = gfsmith_reconstruct(codec, LEN, shards, present, NULL);
    if (status == GFSMITH_OK)
      return n - 1;
    REQUIRE(status == GFSMITH_ENOMEM && balance == before);
    for (unsigned i = 0; i < M; i++)
      for (unsigned b = 0; b < LEN; b++)
        REQUIRE(memory[i][b] == 0xee);
  }
}

/* The loss that reconstruct_failing repaired is known now; any other is known after its first
 * repair. */
static void reconstruct_again(const gfsmith_codec *codec, unsigned long first) {
  for (unsigned lost = 0; lost < 2 * M; lost++) {
    bool present[K + M];
    for (unsigned i = 0; i < K + M; i++)
      present[i] = lost == 0 ? i >= M : i != lost;
    for (unsigned time = 0; time < 2; time++) {
      for (unsigned i = 0; i < K + M; i++)
        if (!present[i])
          memset(memory[i], 0xee, LEN);
      start();
      REQUIRE(gfsmith_reconstruct(codec, LEN, shards, present, NULL) == GFSMITH_OK);
      REQUIRE(allocations == (lost == 0 || time == 1 ? 0 : first));
      REQUIRE(memcmp(expected, memory, sizeof memory) == 0);
    }
  }
}

/* Changes of many shards, and the search for a wrong shard. */
static void change(const gfsmith_codec *codec, bool packets) {
  static size_t counts[K + M + 2];
  unsigned indices[K];
  for (unsigned j = 0; j < K; j++)
    indices[j] = j;
  for (unsigned time = 0; time < 2; time++)
    REQUIRE(gfsmith_update_many(codec, LEN, K, indices, in, shards + K) == GFSMITH_OK);
  for (unsigned j = 0; j < K; j++)
    REQUIRE(gfsmith_append(codec, LEN, j, in[j], shards + K, j == 0) == GFSMITH_OK);
  gfsmith_status status = gfsmith_locate(codec, LEN, in, counts, NULL);
  REQUIRE(status == (packets ? GFSMITH_EUNSUPPORTED : GFSMITH_OK));
  REQUIRE(packets || counts[K + M] == LEN);
  status = gfsmith_correct(codec, LEN, shards, NULL, counts, NULL);
  REQUIRE(status == (packets ? GFSMITH_EUNSUPPORTED : GFSMITH_OK));
  REQUIRE(packets || counts[K + M] == LEN);
}

/* Only the first repair of a loss allocates, `repair` times. */
static void use(const gfsmith_codec *codec, unsigned long repair, bool packets) {
  bool ok = false;
  start();
  REQUIRE(gfsmith_encode(codec, LEN, in, shards + K) == GFSMITH_OK);
  REQUIRE(gfsmith_update(codec, LEN, 3, in[3], shards + K) == GFSMITH_OK);
  REQUIRE(gfsmith_update(codec, LEN, 3, in[3], shards + K) == GFSMITH_OK);
  change(codec, packets);
  REQUIRE(gfsmith_check(codec, LEN, in, &ok) == GFSMITH_OK && ok);
  REQUIRE(allocations == 0);

  memcpy(expected, memory, sizeof memory);
  REQUIRE(reconstruct_failing(codec) == repair);
  REQUIRE(memcmp(expected, memory, sizeof memory) == 0);
  reconstruct_again(codec, repair);
}

int main(void) {
  uint64_t seed = 9;
  for (unsigned i = 0; i < K + M; i++) {
    in[i] = shards[i] = memory[i];
    for (unsigned b = 0; i < K && b < LEN; b++)
      memory[i][b] = (uint8_t)reference_random(&seed);
  }
  gfsmith_codec *codec;
  REQUIRE(create_failing(&codec) == 4);
  use(codec, 4, false);
  REQUIRE(packets_failing(codec) == 7);
  use(codec, 8, true);
  gfsmith_codec_destroy(codec);
  REQUIRE(balance == 0);
  puts("ok");
  return 0;
}
