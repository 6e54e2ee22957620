/* Wrong arguments, failing streams and failing allocations of the library of shards. Prints "ok".
 */
#include "gfsmith_shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 4, M = 2, ALL = K + M, BLOCK = 64, BYTES = 1000, ROOM = 8192 };

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: %s\n", __LINE__, #condition);                                               \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static unsigned until_failure; /* 0: none fails */

static bool fails(void) { return until_failure != 0 && --until_failure == 0; }

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

/* A file in memory. */
typedef struct file {
  uint8_t bytes[ROOM];
  size_t size, at;
  int calls_left; /* before a call that fails; negative: none */
} file;

static file original, shards[ALL], out;

static bool refused(file *f) { return f->calls_left >= 0 && f->calls_left-- == 0; }

static ptrdiff_t take(void *context, void *to, size_t size) {
  file *f = context;
  if (refused(f))
    return -1;
  size_t n = size < f->size - f->at ? size : f->size - f->at;
  memcpy(to, f->bytes + f->at, n);
  f->at += n;
  return (ptrdiff_t)n;
}

static bool put(void *context, const void *bytes, size_t size) {
  file *f = context;
  if (refused(f) || f->size + size > ROOM)
    return false;
  memcpy(f->bytes + f->size, bytes, size);
  f->size += size;
  return true;
}

static bool go_on(void *context, uint64_t done) {
  (void)done;
  return (*(int *)context)-- > 0;
}

static gfsmith_shards_header header(void) {
  return (gfsmith_shards_header){.code = "cauchy",
                                 .k = K,
                                 .m = M,
                                 .block = BLOCK,
                                 .generation = 1,
                                 .set_id = {7},
                                 .name = "file"};
}

static gfsmith_shards_source source_of(file *f) {
  return (gfsmith_shards_source){take, NULL, f, -1};
}
static gfsmith_shards_sink sink_of(file *f) { return (gfsmith_shards_sink){put, f}; }

static int split(const gfsmith_shards_control *control) {
  gfsmith_shards_header h = header();
  gfsmith_shards_source from = source_of(&original);
  gfsmith_shards_sink to[ALL];
  original.at = 0;
  for (int i = 0; i < ALL; i++) {
    shards[i].size = shards[i].at = 0;
    to[i] = sink_of(&shards[i]);
  }
  uint64_t length = 0;
  int status = gfsmith_shards_split(&h, &from, to, control, &length);
  EXPECT(length == (status == GFSMITH_OK ? BYTES : 0));
  return status;
}

enum { VERIFY, JOIN, REPAIR };

static gfsmith_shards_report report;

/* Repair writes shard 1 again. */
static int decode(int what, const gfsmith_shards_control *control) {
  gfsmith_shards_source from[ALL];
  gfsmith_shards_sink to = sink_of(&out), again[GFSMITH_MAX_SHARDS] = {{0}};
  again[1] = to;
  out.size = 0;
  for (int i = 0; i < ALL; i++) {
    shards[i].at = 0;
    from[i] = source_of(&shards[i]);
  }
  switch (what) {
  case VERIFY:
    return gfsmith_shards_verify(from, ALL, control, &report);
  case JOIN:
    return gfsmith_shards_join(from, ALL, &to, control, &report);
  default:
    return gfsmith_shards_repair(from, ALL, again, control, &report);
  }
}

static void headers_that_are_wrong(void) {
  gfsmith_shards_header good = header(), read;
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  EXPECT(gfsmith_shards_header_fault(&good) == NULL && gfsmith_shards_header_fault(NULL) != NULL);
  gfsmith_shards_header wrong[] = {good, good, good, good, good, good, good, good, good,
                                   good, good, good, good, good, good, good, good};
  size_t n = 0;
  wrong[n++].k = 0;
  wrong[n++].m = 0;
  wrong[n++].k = GFSMITH_MAX_SHARDS;
  wrong[n++].m = GFSMITH_MAX_SHARDS;
  wrong[n++].k = GFSMITH_MAX_SHARDS - 1;
  wrong[n++].index = ALL;
  wrong[n++].block = 0;
  wrong[n++].block = BLOCK + 1;
  wrong[n++].block = 2 * GFSMITH_SHARDS_MAX_BLOCK;
  wrong[n++].content = 2;
  wrong[n++].generation = 0;
  wrong[n++].generation = GFSMITH_SHARDS_MAX_GENERATION + 1;
  wrong[n++].code[0] = 0;
  memset(wrong[n++].code, 'c', sizeof good.code);
  wrong[n++].l = 1; /* of a code without groups */
  strcpy(wrong[n++].name, "..");
  strcpy(wrong[n++].name, ".");
  EXPECT(n == sizeof wrong / sizeof *wrong);
  for (size_t i = 0; i < n; i++) {
    EXPECT(gfsmith_shards_header_fault(&wrong[i]) != NULL);
    EXPECT(gfsmith_shards_header_write(&wrong[i], raw) == GFSMITH_EINVAL);
  }
  const unsigned groups[][2] = {{0, 1}, {K + 1, 1}, {M, 1}, {1, 0}};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    gfsmith_shards_header local = good;
    strcpy(local.code, "lrc");
    local.l = groups[i][0];
    EXPECT((gfsmith_shards_header_fault(&local) != NULL) == groups[i][1]);
  }
  EXPECT(gfsmith_shards_header_write(&good, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_header_write(&good, raw) == GFSMITH_OK);
  EXPECT(gfsmith_shards_header_read(NULL, raw, sizeof raw, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_header_read(&read, NULL, sizeof raw, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_header_read(&read, raw, sizeof raw, NULL) == GFSMITH_OK);
  EXPECT(gfsmith_shards_same_set(&read, &good));
  EXPECT(!gfsmith_shards_same_set(NULL, &good) && !gfsmith_shards_same_set(&good, NULL));
  EXPECT(!gfsmith_shards_same_set(&wrong[0], &good) && !gfsmith_shards_same_set(&good, &wrong[0]));
}

static void arguments_that_are_wrong(void) {
  gfsmith_shards_header h = header(), unknown = h;
  strcpy(unknown.code, "nonsense");
  gfsmith_shards_source from = source_of(&original), unreadable = {0}, none[ALL] = {{0}};
  gfsmith_shards_sink to[ALL], some[ALL], unwritable = {0};
  for (int i = 0; i < ALL; i++)
    to[i] = some[i] = sink_of(&out);
  some[ALL - 1].write = NULL;
  EXPECT(gfsmith_shards_split(NULL, &from, to, NULL, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_split(&h, NULL, to, NULL, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_split(&h, &unreadable, to, NULL, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_split(&h, &from, NULL, NULL, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_split(&h, &from, some, NULL, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_split(&unknown, &from, to, NULL, NULL) != GFSMITH_OK);
  h.block = 1;
  EXPECT(gfsmith_shards_split(&h, &from, to, NULL, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_verify(NULL, ALL, NULL, &report) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_verify(&from, 1, NULL, NULL) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_verify(&from, 0, NULL, &report) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_verify(&from, GFSMITH_MAX_SHARDS + 1, NULL, &report) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_verify(none, ALL, NULL, &report) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_join(&from, 1, NULL, NULL, &report) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_join(&from, 1, &unwritable, NULL, &report) == GFSMITH_EINVAL);
  EXPECT(gfsmith_shards_repair(&from, 1, NULL, NULL, &report) == GFSMITH_EINVAL);
  EXPECT(original.at == 0 && out.size == 0);
}

static int repair_one(unsigned shard) {
  gfsmith_shards_source from[ALL];
  gfsmith_shards_sink again[GFSMITH_MAX_SHARDS] = {{0}};
  again[shard] = sink_of(&out);
  out.size = 0;
  for (int i = 0; i < ALL; i++) {
    shards[i].at = 0;
    from[i] = source_of(&shards[i]);
  }
  return gfsmith_shards_repair(from, ALL, again, NULL, &report);
}

/* A shard that the set does not have is refused: the first one, and the last one of any set. */
static void wanted_shards_outside_the_set(void) {
  const unsigned outside[] = {ALL, GFSMITH_MAX_SHARDS - 1};
  EXPECT(split(NULL) == GFSMITH_OK);
  for (int i = 0; i < 2; i++) {
    EXPECT(repair_one(outside[i]) == GFSMITH_EINVAL);
    EXPECT(out.size == 0 && report.header.k + report.header.m == ALL);
  }
  EXPECT(repair_one(ALL - 1) == GFSMITH_OK && out.size == shards[ALL - 1].size);
}

/* Each call of a stream or of `progress` fails once. */
static void streams_that_fail(void) {
  int left;
  gfsmith_shards_control control = {.memory = 1, .progress = go_on, .progress_context = &left};
  for (int calls = 0, status = 1; status != GFSMITH_OK; calls++) {
    left = calls;
    status = split(&control);
    EXPECT(status == (left < 0 ? GFSMITH_SHARDS_ECANCELED : GFSMITH_OK));
  }
  for (int calls = 0, status = 1; status != GFSMITH_OK; calls++) {
    original.calls_left = calls;
    status = split(NULL);
    EXPECT(status == (original.calls_left < 0 ? GFSMITH_SHARDS_EREAD : GFSMITH_OK));
  }
  for (int calls = 0, status = 1; status != GFSMITH_OK; calls++) {
    original.calls_left = -1;
    shards[ALL - 1].calls_left = calls;
    status = split(NULL);
    EXPECT(status == (shards[ALL - 1].calls_left < 0 ? GFSMITH_SHARDS_EWRITE : GFSMITH_OK));
  }
  shards[ALL - 1].calls_left = -1;
  for (int what = VERIFY; what <= REPAIR; what++)
    for (int calls = 0, status = 1; status != GFSMITH_OK; calls++) {
      left = calls;
      status = decode(what, &control);
      EXPECT(status == (left < 0 ? GFSMITH_SHARDS_ECANCELED : GFSMITH_OK));
    }
  for (int what = JOIN; what <= REPAIR; what++)
    for (int calls = 0, status = 1; status != GFSMITH_OK; calls++) {
      out.calls_left = calls;
      status = decode(what, NULL);
      EXPECT(status == (out.calls_left < 0 ? GFSMITH_SHARDS_EWRITE : GFSMITH_OK));
      out.calls_left = -1;
    }
}

/* A set with an unreadable shard is joined without it. */
static void shards_that_fail(void) {
  EXPECT(split(NULL) == GFSMITH_OK);
  for (int calls = 1; calls < 4; calls++) {
    shards[0].calls_left = calls;
    EXPECT(decode(JOIN, NULL) == GFSMITH_OK && out.size == BYTES);
    EXPECT(memcmp(out.bytes, original.bytes, BYTES) == 0);
    bool failed = shards[0].calls_left < 0;
    EXPECT(report.shard[0].unreadable == failed);
    EXPECT(gfsmith_shards_intact(&report.shard[0]) == !failed);
    shards[0].calls_left = -1;
  }
}

/* A second shard with the same index, and streams without a header at an index that is wrong or
 * taken. */
static void sets_that_are_mixed(void) {
  EXPECT(split(NULL) == GFSMITH_OK);
  file last = shards[ALL - 1];
  shards[ALL - 1] = shards[0];
  EXPECT(decode(JOIN, NULL) == GFSMITH_SHARDS_EMIXED);
  EXPECT(report.mixed[0] == 0 && report.mixed[1] == ALL - 1);
  shards[ALL - 1] = last;
  const int index[] = {-1, ALL, 0, ALL - 1};
  gfsmith_shards_source from[ALL];
  for (size_t n = 0; n < sizeof index / sizeof *index; n++) {
    for (int i = 0; i < ALL; i++) {
      shards[i].at = 0;
      from[i] = source_of(&shards[i]);
    }
    shards[ALL - 1].bytes[0] ^= 1;
    from[ALL - 1].index = index[n];
    EXPECT(gfsmith_shards_verify(from, ALL, NULL, &report) == GFSMITH_OK);
    shards[ALL - 1].bytes[0] ^= 1;
    bool known = index[n] == ALL - 1;
    EXPECT(report.foreign[ALL - 1] == !known);
    EXPECT(report.shard[ALL - 1].source == (known ? ALL - 1 : -1));
    EXPECT(report.shard[ALL - 1].header_damaged == known);
  }
}

/* Each allocation fails once: an error is returned, and nothing leaks (LeakSanitizer). */
static void memory_that_is_short(void) {
  for (int what = VERIFY; what <= REPAIR + 1; what++) {
    unsigned nth = 0;
    for (bool reached = true; reached;) {
      until_failure = ++nth;
      int status = what > REPAIR ? split(NULL) : decode(what, NULL);
      reached = until_failure == 0;
      until_failure = 0;
      EXPECT(status == (reached ? GFSMITH_ENOMEM : GFSMITH_OK));
    }
    EXPECT(nth > 3);
    EXPECT(split(NULL) == GFSMITH_OK);
  }
}

static void names_of_statuses(void) {
  for (int a = GFSMITH_SHARDS_EDAMAGED; a <= GFSMITH_SHARDS_EREAD; a++)
    for (int b = GFSMITH_SHARDS_EDAMAGED; b < a; b++)
      EXPECT(strcmp(gfsmith_shards_strerror(a), gfsmith_shards_strerror(b)) != 0);
  EXPECT(strcmp(gfsmith_shards_strerror(GFSMITH_EINVAL), gfsmith_strerror(GFSMITH_EINVAL)) == 0);
}

int main(void) {
  original.calls_left = out.calls_left = -1;
  original.size = BYTES;
  for (int i = 0; i < BYTES; i++)
    original.bytes[i] = (uint8_t)rand();
  for (int i = 0; i < ALL; i++)
    shards[i].calls_left = -1;
  headers_that_are_wrong();
  arguments_that_are_wrong();
  wanted_shards_outside_the_set();
  streams_that_fail();
  shards_that_fail();
  sets_that_are_mixed();
  memory_that_is_short();
  names_of_statuses();
  puts("ok");
  return 0;
}
