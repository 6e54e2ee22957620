/* parallel: parallel calls over an executor against serial ones: bytes, statuses, ranges. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include <sys/mman.h>
#include <unistd.h>

#include "parallel.h"

typedef struct shape {
  const char *code; /* NULL: a local code */
  unsigned k, m;
  size_t packet;
} shape;

static const shape shapes[] = {{"cauchy", 10, 4, 0},
                               {"lch", 3, 1, 0},
                               {"cauchy", 20, 12, 0},
                               {NULL, 6, 4, 0},
                               {"cauchy_good", 5, 3, 24}};
static const size_t lengths[] = {1, 64, 127, 4099, 20160};
static const size_t offsets[] = {0, 17};

static gfsmith_codec *codec_of(const shape *s) {
  gfsmith_codec *codec;
  gfsmith_status status = s->code != NULL ? gfsmith_codec_create(&codec, s->code, s->k, s->m)
                                          : gfsmith_codec_create_lrc(&codec, s->k, s->m - 2, 2);
  REQUIRE(status == GFSMITH_OK);
  REQUIRE(gfsmith_codec_packets(codec, s->packet) == GFSMITH_OK);
  return codec;
}

/* One call: `executor` NULL is the serial one. */
typedef struct call {
  const shape *shape;
  const gfsmith_codec *codec;
  const gfsmith_executor *executor;
  size_t len;
} call;

typedef gfsmith_status operation(const call *c, uint8_t **shard);

static gfsmith_status encode(const call *c, uint8_t **s) {
  uint8_t **parity = s + c->shape->k;
  return c->executor == NULL
             ? gfsmith_encode(c->codec, c->len, read_only(s), parity)
             : gfsmith_encode_parallel(c->codec, c->executor, c->len, read_only(s), parity);
}

static gfsmith_status update(const call *c, uint8_t **s) {
  uint8_t **parity = s + c->shape->k;
  return c->executor == NULL
             ? gfsmith_update(c->codec, c->len, 1, s[2], parity)
             : gfsmith_update_parallel(c->codec, c->executor, c->len, 1, s[2], parity);
}

static gfsmith_status append_first(const call *c, uint8_t **s) {
  uint8_t **parity = s + c->shape->k;
  return c->executor == NULL
             ? gfsmith_append(c->codec, c->len, 2, s[0], parity, true)
             : gfsmith_append_parallel(c->codec, c->executor, c->len, 2, s[0], parity, true);
}

static gfsmith_status update_some(const call *c, uint8_t **s, unsigned count) {
  enum { MOST = 600 };
  unsigned indices[MOST];
  const uint8_t *deltas[MOST];
  uint8_t **parity = s + c->shape->k;
  REQUIRE(count <= MOST);
  for (unsigned n = 0; n < count; n++) {
    indices[n] = n * 7 % c->shape->k;
    deltas[n] = s[n % c->shape->k];
  }
  return c->executor == NULL ? gfsmith_update_many(c->codec, c->len, count, indices, deltas, parity)
                             : gfsmith_update_many_parallel(c->codec, c->executor, c->len, count,
                                                            indices, deltas, parity);
}

static gfsmith_status update_three(const call *c, uint8_t **s) { return update_some(c, s, 3); }

/* More deltas than shards of a codec; an odd number does not cancel out. */
static gfsmith_status update_hundreds(const call *c, uint8_t **s) { return update_some(c, s, 511); }

static gfsmith_status repair(const call *c, uint8_t **s, const bool *present, const bool *wanted) {
  return c->executor == NULL
             ? gfsmith_reconstruct(c->codec, c->len, s, present, wanted)
             : gfsmith_reconstruct_parallel(c->codec, c->executor, c->len, s, present, wanted);
}

/* Rebuild the first shard and the first parity; the pointers of other lost shards are NULL. */
static gfsmith_status repair_two(const call *c, uint8_t **s) {
  bool present[MOST_SHARDS], wanted[MOST_SHARDS];
  uint8_t *given[MOST_SHARDS];
  unsigned k = c->shape->k, m = c->shape->m;
  for (unsigned n = 0; n < k + m; n++) {
    present[n] = n != 0 && n != k && (n != 1 || m < 4);
    wanted[n] = n == 0 || (n == k && m > 1);
    given[n] = n == 1 && m >= 4 ? NULL : s[n];
  }
  present[k] = m == 1;
  return repair(c, given, present, wanted);
}

static gfsmith_status repair_nothing(const call *c, uint8_t **s) {
  bool present[MOST_SHARDS];
  for (unsigned n = 0; n < MOST_SHARDS; n++)
    present[n] = true;
  return repair(c, s, present, NULL);
}

static operation *const operations[] = {encode,          update,     append_first,   update_three,
                                        update_hundreds, repair_two, repair_nothing, encode};

/* Apply all operations to two equal blocks, serially and over the executor. */
static void compare(const shape *s, size_t len, size_t offset, const gfsmith_executor *executor) {
  gfsmith_codec *codec = codec_of(s);
  block serial = block_of(s->k + s->m, len, offset, len), parallel = serial;
  parallel = block_of(s->k + s->m, len, offset, len);
  bool shared = len * (1 + s->m) >= executor->least;
  for (unsigned n = 0; n < sizeof operations / sizeof *operations; n++) {
    call one = {s, codec, NULL, len}, other = {s, codec, executor, len};
    unsigned before = atomic_load(&runs);
    REQUIRE(operations[n](&one, serial.shard) == GFSMITH_OK);
    REQUIRE(operations[n](&other, parallel.shard) == GFSMITH_OK);
    REQUIRE(memcmp(serial.memory, parallel.memory, serial.bytes) == 0);
    if (shared && len > 1000 && operations[n] != repair_nothing)
      REQUIRE(atomic_load(&runs) > before && atomic_load(&last_tasks) > 4);
  }
  free(serial.memory);
  free(parallel.memory);
  gfsmith_codec_destroy(codec);
}

/* A check is true for a code word, and false if one byte at any of some places is changed. */
static void check(const shape *s, size_t len, const gfsmith_executor *executor) {
  gfsmith_codec *codec = codec_of(s);
  block b = block_of(s->k + s->m, len, 0, len);
  uint8_t *const *parity = b.shard + s->k;
  bool ok = false;
  REQUIRE(gfsmith_encode(codec, len, read_only(b.shard), parity) == GFSMITH_OK);
  REQUIRE(gfsmith_check_parallel(codec, executor, len, read_only(b.shard), &ok) == GFSMITH_OK);
  REQUIRE(ok);
  for (size_t at = 0; at < len; at += len / 23 + 1) {
    uint8_t *changed = &b.shard[at % (s->k + s->m)][at + 1 < len ? at : len - 1];
    *changed ^= 0x10;
    REQUIRE(gfsmith_check_parallel(codec, executor, len, read_only(b.shard), &ok) == GFSMITH_OK);
    REQUIRE(!ok);
    *changed ^= 0x10;
  }
  free(b.memory);
  gfsmith_codec_destroy(codec);
}

static void equal(const shape *s, size_t len, const gfsmith_executor *executor) {
  size_t unit = s->packet > 0 ? 8 * s->packet : 1;
  len = (len + unit - 1) / unit * unit;
  for (unsigned o = 0; o < sizeof offsets / sizeof *offsets; o++)
    compare(s, len, offsets[o], executor);
  check(s, len, executor);
}

static void all_equal(const gfsmith_executor *executor) {
  for (unsigned n = 0; n < sizeof shapes / sizeof *shapes; n++)
    for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++)
      equal(&shapes[n], lengths[l], executor);
}

/* Statuses: invalid arguments, losses that are too large or singular. Nothing is run or written. */
static void refuse(const gfsmith_executor *executor) {
  const shape s = {NULL, 6, 4, 0}, packets = {"cauchy", 6, 4, 16};
  gfsmith_codec *codec = codec_of(&s), *regions = codec_of(&packets);
  enum { LEN = 4099 };
  block b = block_of(10, LEN, 0, 1), same = block_of(10, LEN, 0, 1);
  uint8_t *holes[10], **shard = b.shard;
  const uint8_t *const *in = read_only(b.shard);
  memcpy(holes, shard, sizeof holes);
  holes[3] = holes[8] = NULL;
  bool ok = true, all[10], many[10], singular[10], one[10];
  for (unsigned n = 0; n < 10; n++) {
    all[n] = true;
    many[n] = n > 4;
    singular[n] = n > 2 && n != 6; /* a group of 3 data with its parity */
    one[n] = n != 8;
  }
  unsigned before = atomic_load(&runs), bad = 6, good = 1;
  const gfsmith_executor *e = executor;
#define REFUSED(expected, call) REQUIRE((call) == (expected))
  REFUSED(GFSMITH_EINVAL, gfsmith_encode_parallel(NULL, e, LEN, in, shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_encode_parallel(codec, e, LEN, NULL, shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_encode_parallel(codec, e, LEN, in, NULL));
  REFUSED(GFSMITH_EINVAL, gfsmith_encode_parallel(codec, e, LEN, read_only(holes), shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_encode_parallel(codec, e, LEN, in, holes + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_encode_parallel(regions, e, LEN, in, shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_parallel(NULL, e, LEN, 0, shard[0], shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_parallel(codec, e, LEN, 6, shard[0], shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_parallel(codec, e, LEN, 0, NULL, shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_parallel(codec, e, LEN, 0, shard[0], holes + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_parallel(regions, e, LEN, 0, shard[0], shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_append_parallel(codec, e, LEN, 6, shard[0], shard + 6, true));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_many_parallel(NULL, e, LEN, 1, &good, in, shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_many_parallel(codec, e, LEN, 1, &bad, in, shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_many_parallel(codec, e, LEN, 1, NULL, in, shard + 6));
  REFUSED(GFSMITH_EINVAL, gfsmith_update_many_parallel(codec, e, LEN, 1, &good, NULL, shard + 6));
  REFUSED(GFSMITH_OK, gfsmith_update_many_parallel(codec, e, LEN, 0, NULL, NULL, NULL));
  REFUSED(GFSMITH_EINVAL, gfsmith_check_parallel(NULL, e, LEN, in, &ok));
  REFUSED(GFSMITH_EINVAL, gfsmith_check_parallel(codec, e, LEN, NULL, &ok));
  REFUSED(GFSMITH_EINVAL, gfsmith_check_parallel(codec, e, LEN, read_only(holes), &ok));
  REFUSED(GFSMITH_EINVAL, gfsmith_check_parallel(codec, e, LEN, in, NULL));
  REFUSED(GFSMITH_EINVAL, gfsmith_check_parallel(regions, e, LEN, in, &ok));
  REFUSED(GFSMITH_EINVAL, gfsmith_reconstruct_parallel(NULL, e, LEN, shard, all, NULL));
  REFUSED(GFSMITH_EINVAL, gfsmith_reconstruct_parallel(codec, e, LEN, NULL, one, NULL));
  REFUSED(GFSMITH_EINVAL, gfsmith_reconstruct_parallel(codec, e, LEN, shard, NULL, NULL));
  REFUSED(GFSMITH_EINVAL, gfsmith_reconstruct_parallel(codec, e, LEN, holes, one, NULL));
  REFUSED(GFSMITH_EINVAL, gfsmith_reconstruct_parallel(regions, e, LEN, shard, one, NULL));
  REFUSED(GFSMITH_ETOOMANY, gfsmith_reconstruct_parallel(codec, e, LEN, shard, many, NULL));
  REFUSED(GFSMITH_ESINGULAR, gfsmith_reconstruct_parallel(codec, e, LEN, shard, singular, NULL));
#undef REFUSED
  REQUIRE(ok && atomic_load(&runs) == before);
  REQUIRE(memcmp(b.memory, same.memory, b.bytes) == 0);
  free(b.memory);
  free(same.memory);
  gfsmith_codec_destroy(codec);
  gfsmith_codec_destroy(regions);
}

/* Calls that are not shared: too short, no executor, one worker, empty shards. */
static void alone(const gfsmith_executor *executor) {
  const shape s = {"cauchy", 4, 2, 0};
  gfsmith_codec *codec = codec_of(&s);
  enum { LEN = 6000 };
  block b = block_of(6, LEN, 0, 2);
  gfsmith_executor without = *executor, single = *executor, larger = *executor, usual = *executor;
  without.run = NULL;
  single.workers = 1;
  larger.least = 6 * LEN + 6;
  usual.least = 0;
  const gfsmith_executor *unused[] = {NULL, &without, &single, &larger, &usual};
  unsigned before = atomic_load(&runs);
  for (unsigned n = 0; n < sizeof unused / sizeof *unused; n++)
    REQUIRE(gfsmith_encode_parallel(codec, unused[n], LEN, read_only(b.shard), b.shard + 4) ==
            GFSMITH_OK);
  REQUIRE(gfsmith_encode_parallel(codec, executor, 0, NULL, NULL) == GFSMITH_OK);
  REQUIRE(atomic_load(&runs) == before);
  larger.least = 6 * LEN;
  REQUIRE(gfsmith_encode_parallel(codec, &larger, LEN, read_only(b.shard), b.shard + 4) ==
          GFSMITH_OK);
  REQUIRE(atomic_load(&runs) == before + 1);
  free(b.memory);
  gfsmith_codec_destroy(codec);
}

/* The bytes that a task changes: contiguous ranges, one after the other, that begin at a line of
 * the first parity, or at a region in packet layout. */
static void ranges(size_t packet) {
  const shape s = {"cauchy", 4, 2, packet};
  gfsmith_codec *codec = codec_of(&s);
  size_t len = packet > 0 ? 8 * packet * 50 : 5001, end = 0;
  unsigned only = 0;
  gfsmith_executor executor = {run_one, &only, 3, 1024};
  for (unsigned tasks = 1; only < tasks; only++) {
    block b = block_of(6, len, 17, 3), old = block_of(6, len, 17, 3);
    const uint8_t *const *in = read_only(b.shard);
    memset(b.shard[4], 0, len); /* differs from the parity in some byte of each 16 */
    memset(old.shard[4], 0, len);
    REQUIRE(gfsmith_encode_parallel(codec, &executor, len, in, b.shard + 4) == GFSMITH_OK);
    tasks = atomic_load(&last_tasks);
    REQUIRE(tasks == 12);
    size_t first = 0, last = len;
    while (b.shard[4][first] == old.shard[4][first])
      first++;
    while (b.shard[4][last - 1] == old.shard[4][last - 1])
      last--;
    REQUIRE(first >= end && first < end + 16);
    end = only + 1 == tasks ? len : (last + 16) & ~(size_t)15;
    if (packet > 0)
      end = (last + 8 * packet - 1) / (8 * packet) * (8 * packet);
    else if (only + 1 < tasks)
      end = ((uintptr_t)(b.shard[4] + last) + 63) / 64 * 64 - (uintptr_t)b.shard[4];
    REQUIRE(end - last < 16 && end - first >= (packet > 0 ? 8 * packet : 64));
    free(b.memory);
    free(old.memory);
  }
  REQUIRE(end == len);
  gfsmith_codec_destroy(codec);
}

/* After a difference in the first task no thread reads more than a step of its task. */
static void stops(void) {
  enum { K = 10, M = 4, LEN = 1 << 20, READ = 256 << 10 };
  const shape s = {"cauchy", K, M, 0};
  gfsmith_codec *codec = codec_of(&s);
  const uint8_t *shards[K + M];
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  REQUIRE(READ % page == 0);
  for (unsigned n = 0; n < K + M; n++) {
    uint8_t *memory = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED && mprotect(memory + READ, LEN - READ, PROT_NONE) == 0);
    memory[0] = n == 0;
    shards[n] = memory;
  }
  gfsmith_executor executor = {run_in_order, NULL, 2, 0};
  bool ok = true;
  REQUIRE(gfsmith_check_parallel(codec, &executor, LEN, shards, &ok) == GFSMITH_OK && !ok);
  REQUIRE(atomic_load(&last_tasks) == 8);
  gfsmith_codec_destroy(codec);
}

/* "brief": one length for each shape, for ThreadSanitizer. */
int main(int arguments, char **argument) {
  bool brief = arguments > 1 && strcmp(argument[1], "brief") == 0;
  gfsmith_pool *pools[2];
  REQUIRE(gfsmith_pool_create(&pools[0], 2) == GFSMITH_OK);
  REQUIRE(gfsmith_pool_create(&pools[1], 5) == GFSMITH_OK);
  void *first = (void *)(uintptr_t)gfsmith_pool_executor(pools[0]);
  void *second = (void *)(uintptr_t)gfsmith_pool_executor(pools[1]);
  const gfsmith_executor executors[] = {{run_in_order, NULL, 2, 1024},
                                        {run_reversed, NULL, 3, 1024},
                                        {run_fresh, NULL, 4, 1024},
                                        {run_counted, first, 2, 1024},
                                        {run_counted, second, 5, 1024}};
  for (unsigned n = 0; n < sizeof executors / sizeof *executors; n++)
    if (!brief)
      all_equal(&executors[n]);
    else if (n >= 2)
      equal(&shapes[(n - 2) * 2], 1500, &executors[n]);
  refuse(&executors[0]);
  alone(&executors[0]);
  ranges(0);
  ranges(24);
  stops();
  gfsmith_pool_destroy(pools[0]);
  gfsmith_pool_destroy(pools[1]);
  puts("ok");
  return 0;
}
