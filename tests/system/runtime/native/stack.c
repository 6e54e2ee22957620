/* stack: the stack that calls take, against the limits that the headers state. */
#define _GNU_SOURCE /* pthread_attr_setstack */
#include <pthread.h>
#include <string.h>

#include "gfsmith_checksum.h"
#include "gfsmith_wide.h"
#include "reference.h"

enum { COUNT = 40, LEN = 512, WIDEST = 255, PAINTED = 1 << 20, PAINT = 0xa5, KIB = 1024 };

typedef struct call call;
typedef gfsmith_status operation(const call *c);

struct call {
  gfsmith_codec *codec;
  gfsmith_wide *wide;
  unsigned k, m;
  gfsmith_stride stride;
  operation *run;
};

static uint8_t memory[COUNT * WIDEST * LEN];

static gfsmith_status nothing(const call *c) {
  (void)c;
  return GFSMITH_OK;
}

static gfsmith_status encode(const call *c) {
  return gfsmith_encode_strided(c->codec, LEN, COUNT, memory, c->stride, memory + c->k * LEN,
                                c->stride);
}

static gfsmith_status update(const call *c) {
  static const unsigned indices[COUNT];
  return gfsmith_update_strided(c->codec, LEN, COUNT, indices, memory, c->stride.stripe,
                                memory + c->k * LEN, c->stride);
}

static gfsmith_status reconstruct(const call *c) {
  static bool present[WIDEST];
  for (unsigned n = 0; n < c->k + c->m; n++)
    present[n] = n >= c->k || n >= c->m;
  return gfsmith_reconstruct_strided(c->codec, LEN, COUNT, memory, c->stride, present, NULL);
}

static gfsmith_status check(const call *c) {
  static bool ok[COUNT];
  return gfsmith_check_strided(c->codec, LEN, COUNT, memory, c->stride, ok);
}

/* The shards of the first stripe. */
static uint8_t *shards[WIDEST];
static const uint8_t *const *const read_only = (const uint8_t *const *)shards;
static uint64_t states[WIDEST];
static size_t counts[WIDEST + 2];

static gfsmith_status locate(const call *c) {
  return gfsmith_locate(c->codec, LEN, read_only, counts, NULL);
}

static gfsmith_status correct(const call *c) {
  return gfsmith_correct(c->codec, LEN, shards, NULL, counts, NULL);
}

static gfsmith_status encode_checksums(const call *c) {
  return gfsmith_encode_checksums(c->codec, GFSMITH_CRC32C, LEN, read_only, shards + c->k, states);
}

static gfsmith_status check_checksums(const call *c) {
  bool ok;
  return gfsmith_check_checksums(c->codec, GFSMITH_CRC32C, LEN, read_only, states, &ok);
}

enum { WIDE_DATA = 36, WIDE_PARITY = 20, WIDE_LEN = 80 << 10 /* beyond the caches */ };

static gfsmith_status encode_wide(const call *c) {
  return gfsmith_wide_encode(c->wide, WIDE_LEN, read_only, shards + WIDE_DATA);
}

static gfsmith_status reconstruct_wide(const call *c) {
  static bool present[WIDE_DATA + WIDE_PARITY];
  for (unsigned n = 0; n < WIDE_DATA + WIDE_PARITY; n++)
    present[n] = n >= WIDE_PARITY;
  return gfsmith_wide_reconstruct(c->wide, WIDE_LEN, shards, present, NULL);
}

static void *start(void *argument) {
  const call *c = argument;
  REQUIRE(c->run(c) == GFSMITH_OK);
  return NULL;
}

/* The bytes of a thread's stack that a call changes. */
static size_t used(call *c, operation *run) {
  uint8_t *stack = aligned_alloc(4096, PAINTED);
  REQUIRE(stack != NULL);
  memset(stack, PAINT, PAINTED);
  c->run = run;
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstack(&attributes, stack, PAINTED) == 0);
  REQUIRE(pthread_create(&thread, &attributes, start, c) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  size_t intact = 0;
  while (intact < PAINTED && stack[intact] == PAINT)
    intact++;
  free(stack);
  return PAINTED - intact;
}

/* A call, and its limit without and with packet layout; 0: not supported. */
typedef struct limited {
  operation *run;
  size_t plain, packets;
} limited;

static const limited calls[] = {
    {encode, 36 * KIB, 62 * KIB},
    {update, 36 * KIB, 62 * KIB},
    {reconstruct, 36 * KIB, 62 * KIB},
    {check, 36 * KIB, 62 * KIB},
    {locate, 38 * KIB, 0},
    {correct, 39 * KIB, 0},
    {encode_checksums, 51 * KIB, 51 * KIB},
    {check_checksums, 51 * KIB, 67 * KIB},
};

static void test_shape(unsigned k, unsigned m, size_t packet) {
  call c = {.k = k, .m = m, .stride = {LEN, (size_t)LEN * (k + m)}};
  REQUIRE(gfsmith_codec_create(&c.codec, "cauchy", k, m) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_packets(c.codec, packet) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_hint(c.codec, GFSMITH_HINT_STREAMING) == GFSMITH_OK);
  size_t without = used(&c, nothing);
  for (size_t n = 0; n < sizeof calls / sizeof calls[0]; n++) {
    size_t limit = packet > 0 ? calls[n].packets : calls[n].plain;
    if (limit > 0)
      REQUIRE(used(&c, calls[n].run) - without <= limit);
    memset(states, 0, sizeof states);
  }
  gfsmith_codec_destroy(c.codec);
}

static void test_wide(const char *code) {
  call c = {0};
  REQUIRE(gfsmith_wide_create(&c.wide, code, WIDE_DATA, WIDE_PARITY) == GFSMITH_OK);
  size_t without = used(&c, nothing);
  REQUIRE(used(&c, encode_wide) - without <= 20 * KIB);
  REQUIRE(used(&c, reconstruct_wide) - without <= 20 * KIB);
  gfsmith_wide_destroy(c.wide);
}

static void place_shards(size_t count, size_t len) {
  for (size_t n = 0; n < count; n++)
    shards[n] = memory + n * len;
}

int main(void) {
  place_shards(WIDEST, LEN);
  test_shape(10, 4, 0);
  test_shape(20, 6, 0);
  test_shape(100, 20, 0);
  test_shape(100, 100, 0);
  test_shape(200, 55, 0);
  test_shape(10, 4, 8);
  place_shards(WIDE_DATA + WIDE_PARITY, WIDE_LEN);
  test_wide("leopard8");
  test_wide("leopard16");
  test_wide("lch16");
  puts("ok");
}
