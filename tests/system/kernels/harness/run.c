/* run.c: one call of one kernel on placed buffers, and the check of every byte afterwards. */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct buffers {
  uint8_t *coeffs;
  uint8_t **sources, **destinations; /* the arrays passed to the kernel */
  /* After the pointers to sources: the prefetch pointers. */
  uint8_t *source[MAX_SHARDS * (1 + MAX_LINES)], *destination[MAX_SHARDS];
  int aliased[MAX_SHARDS]; /* by destination: the source in the same buffer, or -1 */
  int shared[MAX_SHARDS];  /* by source: the destination in the same buffer, or -1 */
};

static bool fail(struct job *job, const struct testcase *test, const char *format, ...) {
  static const char *const places[] = {"flush to the start", "flush to the end", "spread",
                                       "equally misaligned"};
  static const char *const aliases[] = {"", ", dst[0] == src[0]", ", dst[i] == src[i]",
                                        ", dst[r-1-i] == src[i]"};
  char what[384];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(job->failure, sizeof job->failure,
           "%s (%s), len %zu, k %zu, buffers %s (shift %u)%s%s, coefficients %d/%u seed %llu: %s",
           job->kernel->symbol, machine_abi_names[job->abi], test->len, job->recipe.k,
           places[test->placement.kind], test->placement.shift, aliases[test->aliasing],
           test->stepped ? ", single-stepped" : "", (int)job->recipe.coefficients,
           job->recipe.value, (unsigned long long)job->recipe.seed, what);
  return false;
}

static void choose_aliases(const struct job *job, const struct testcase *test, struct buffers *b) {
  size_t k = job->recipe.k, r = job->outputs, both = k < r ? k : r;
  memset(b->aliased, -1, sizeof b->aliased);
  memset(b->shared, -1, sizeof b->shared);
  if (test->aliasing == ALIAS_NONE) {
    return;
  }
  for (size_t n = 0; n < (test->aliasing == ALIAS_FIRST && both > 0 ? 1 : both); n++) {
    size_t i = test->aliasing == ALIAS_CROSSED ? r - 1 - n : n;
    b->aliased[i] = (int)n;
    b->shared[n] = (int)i;
  }
}

static size_t pointers(const struct job *job) { return job->recipe.k * (1 + job->kernel->lines); }

/* Any value that a prefetch pointer may hold: a source, unreadable memory, NULL, a non-canonical
 * address, and addresses that overflow when the kernel adds to them. */
static uint8_t *anything(const struct job *job, const struct buffers *b, size_t n) {
  const uintptr_t some[] = {(uintptr_t)b->source[n % job->recipe.k],
                            (uintptr_t)arena_guard(REGION_COEFFS), 0,
                            (uintptr_t)UINT64_C(0x5bad000000000002), UINTPTR_MAX};
  return (uint8_t *)some[(n + job->cases) % (sizeof some / sizeof some[0])];
}

/* Copy a plane of len bytes, of which `to` or `from` is in lines. */
static void copy_plane(uint8_t *to, bool to_lines, const uint8_t *from, bool from_lines,
                       size_t len) {
  if (!to_lines && !from_lines) {
    memcpy(to, from, len);
    return;
  }
  for (size_t n = 0; n < len; n++) {
    size_t at = n / LINE_PART * LINE + n % LINE_PART;
    to[to_lines ? at : n] = from[from_lines ? at : n];
  }
}

static bool sources_have_lines(const struct job *job) {
  const enum operation operation = job->kernel->operation;
  return has_lines(job->kernel) &&
         (operation == OPERATION_ifft4lines || operation == OPERATION_ifft4scaled);
}

static bool destinations_have_lines(const struct job *job) {
  const enum operation operation = job->kernel->operation;
  return has_lines(job->kernel) &&
         (operation == OPERATION_fft4lines || operation == OPERATION_fft4scaled);
}

/* The bytes of the buffer that shard i begins; the second plane of lines is in that of the first.
 */
static size_t buffer_bytes(size_t len, bool lines, size_t i) {
  return lines ? (i % 2 == 0 ? 2 * len : 0) : len;
}

static uint8_t *place_shard(unsigned region, size_t len, bool lines, size_t i, uint8_t *const *all,
                            struct placement at) {
  if (lines && i % 2 != 0) {
    return all[i - 1] + LINE_PART;
  }
  return arena_place(region + (unsigned)i, buffer_bytes(len, lines, i), 1, at);
}

static void place(const struct job *job, const struct testcase *test, struct buffers *b) {
  size_t k = job->recipe.k, r = job->outputs, len = test->len;
  struct placement at = test->placement;
  b->coeffs = arena_place(REGION_COEFFS, job->table_bytes, 1, at);
  memcpy(b->coeffs, job->table, job->table_bytes);
  b->sources =
      (void *)arena_place(REGION_SRC_ARRAY, pointers(job) * sizeof(void *), sizeof(void *), at);
  b->destinations = (void *)arena_place(REGION_DST_ARRAY, r * sizeof(void *), sizeof(void *), at);
  for (size_t j = 0; j < k; j++) {
    bool lines = sources_have_lines(job);
    b->source[j] = place_shard(REGION_SOURCES, len, lines, j, b->source, at);
    copy_plane(b->source[j], lines, job_source(job, j), false, len);
    memcpy(&b->sources[j], &b->source[j], sizeof(void *));
  }
  for (size_t n = k; n < pointers(job); n++) {
    b->source[n] = anything(job, b, n);
    memcpy(&b->sources[n], &b->source[n], sizeof(void *));
  }
  for (size_t i = 0; i < r; i++) {
    if (b->aliased[i] >= 0) {
      b->destination[i] = b->source[b->aliased[i]];
    } else {
      bool lines = destinations_have_lines(job);
      b->destination[i] = place_shard(REGION_DESTINATIONS, len, lines, i, b->destination, at);
      copy_plane(b->destination[i], lines, job_destination(job, i), false, len);
    }
    memcpy(&b->destinations[i], &b->destination[i], sizeof(void *));
  }
}

static bool check_destination(struct job *job, const struct testcase *test, const struct buffers *b,
                              size_t i) {
  static uint8_t expected[MAX_LEN], written[MAX_LEN];
  const uint8_t *initial =
      b->aliased[i] >= 0 ? job_source(job, (size_t)b->aliased[i]) : job_destination(job, i);
  memcpy(expected, job->product + i * MAX_LEN, test->len);
  if (job->kernel->operation == OPERATION_mad) {
    for (size_t n = 0; n < test->len; n++) {
      expected[n] ^= initial[n];
    }
  }
  copy_plane(written, false, b->destination[i], destinations_have_lines(job), test->len);
  if (memcmp(written, expected, test->len) == 0) {
    return true;
  }
  size_t n = 0;
  while (written[n] == expected[n]) {
    n++;
  }
  return fail(job, test, "wrong value: dst[%zu][%zu] is 0x%02x, must be 0x%02x (was 0x%02x)", i, n,
              written[n], expected[n], initial[n]);
}

static bool check_canary(struct job *job, const struct testcase *test, const char *name, size_t i,
                         const void *buffer, size_t size) {
  const uint8_t *broken = arena_canary_broken(buffer, size);
  if (broken == NULL) {
    return true;
  }
  return fail(job, test, "writes out of bounds: byte %td of %s[%zu], which has %zu",
              broken - (const uint8_t *)buffer, name, i, size);
}

static bool check_unchanged(struct job *job, const struct testcase *test, const char *name,
                            size_t i, const void *buffer, const void *original, size_t size) {
  if (memcmp(buffer, original, size) != 0) {
    return fail(job, test, "modifies %s[%zu], which is an input", name, i);
  }
  return check_canary(job, test, name, i, buffer, size);
}

static bool check_source(struct job *job, const struct testcase *test, const struct buffers *b,
                         size_t j) {
  static uint8_t found[MAX_LEN];
  bool lines = sources_have_lines(job);
  copy_plane(found, false, b->source[j], lines, test->len);
  if (memcmp(found, job_source(job, j), test->len) != 0) {
    return fail(job, test, "modifies src[%zu], which is an input", j);
  }
  size_t size = buffer_bytes(test->len, lines, j);
  return (lines && j % 2 != 0) || check_canary(job, test, "src", j, b->source[j], size);
}

static bool check_buffers(struct job *job, const struct testcase *test, const struct buffers *b) {
  size_t k = job->recipe.k, r = job->outputs;
  for (size_t i = 0; i < r; i++) {
    bool lines = destinations_have_lines(job);
    size_t size = buffer_bytes(test->len, lines, i);
    bool checked = lines && i % 2 != 0;
    if (!check_destination(job, test, b, i) ||
        (!checked && !check_canary(job, test, "dst", i, b->destination[i], size))) {
      return false;
    }
  }
  for (size_t j = 0; j < k; j++) {
    if (b->shared[j] < 0 && !check_source(job, test, b, j)) {
      return false;
    }
  }
  return check_unchanged(job, test, "coeffs", 0, b->coeffs, job->table, job->table_bytes) &&
         check_unchanged(job, test, "src array", 0, b->sources, b->source,
                         pointers(job) * sizeof(void *)) &&
         check_unchanged(job, test, "dst array", 0, b->destinations, b->destination,
                         r * sizeof(void *));
}

static void restore(const struct job *job, const struct testcase *test, const struct buffers *b) {
  arena_restore(b->coeffs, job->table_bytes);
  arena_restore((uint8_t *)b->sources, pointers(job) * sizeof(void *));
  arena_restore((uint8_t *)b->destinations, job->outputs * sizeof(void *));
  for (size_t j = 0; j < job->recipe.k; j++) {
    arena_restore(b->source[j], buffer_bytes(test->len, sources_have_lines(job), j));
  }
  for (size_t i = 0; i < job->outputs; i++) {
    arena_restore(b->destination[i], buffer_bytes(test->len, destinations_have_lines(job), i));
  }
}

static uint64_t k_argument(const struct job *job) {
  if (is_by_rows(job->kernel->tables) && job->kernel->operation == OPERATION_mad) {
    return job->columns;
  }
  static const uint64_t junk[] = {0, UINT64_C(0x5bad000000000001), 1, UINT64_MAX, 7};
  return job->kernel->inputs == 0 ? job->recipe.k : junk[job->cases % 5];
}

/* The argument coeffs of a kernel without a table: NULL, a guard, or an invalid address. Three
 * consecutive calls get all three, and the placements of sweep_lengths get them in changing order.
 */
static uint64_t no_coeffs(const struct job *job) {
  const uint64_t unreadable[] = {0, (uintptr_t)arena_guard(REGION_COEFFS),
                                 UINT64_C(0x5bad000000000002)};
  return unreadable[(job->cases + job->cases / 3) % 3];
}

bool run_case(struct job *job, struct testcase *test) {
  static struct buffers b;
  if (has_lines(job->kernel)) {
    test->len -= test->len % LINE_PART;
  }
  choose_aliases(job, test, &b);
  place(job, test, &b);
  struct call call = {
      .code = job->kernel->code[job->abi],
      .abi = job->abi,
      .arguments = {test->len, k_argument(job), (uintptr_t)b.coeffs, (uintptr_t)b.sources,
                    (uintptr_t)b.destinations},
      .dirty_uppers = job->cases % 2 != 0,
      .stepped = test->stepped,
      .seed = job->cases + 1,
  };
  if (job->kernel->tables == TABLES_none) {
    call.arguments[2] = no_coeffs(job);
  }
  job->cases++;
  char failure[256];
  if (!call_kernel(&call, failure, sizeof failure)) {
    return fail(job, test, "%s", failure);
  }
  test->steps = call.steps;
  test->trace = call.trace;
  if (!check_buffers(job, test, &b)) {
    return false;
  }
  restore(job, test, &b);
  return true;
}
