/* The functions of gfsmith_algebra.h as contenders: variants "SET+FUNCTION", such as
 * "gfni_avx2+multiply". A stripe's sources are the operands, its one parity is the result. */
#include <gfsmith_algebra.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "contenders.h"

enum { FIELD = 0x11d };

typedef gfsmith_status operation_fn(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out);

static gfsmith_status multiply(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  return gfsmith_multiply(FIELD, len, a, b, out);
}

static gfsmith_status invert(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  (void)b;
  return gfsmith_invert(FIELD, len, a, out);
}

static gfsmith_status polynomials(unsigned degree, size_t len, const uint8_t *a, const uint8_t *b,
                                  uint8_t *out) {
  static const uint8_t modulus[32] = {3, 0, 0, 7, 0, 0, 1};
  return gfsmith_multiply_polynomials(FIELD, degree, len / degree, a, b, modulus, out);
}

static gfsmith_status polynomials8(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  return polynomials(8, len, a, b, out);
}

static gfsmith_status polynomials16(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  return polynomials(16, len, a, b, out);
}

static gfsmith_status polynomials32(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  return polynomials(32, len, a, b, out);
}

static gfsmith_status matrices8(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  return gfsmith_multiply_matrices8(len / 8, a, b, out);
}

/* Shards begin at multiples of 64 bytes. */
static gfsmith_status matrices64(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  return gfsmith_multiply_matrices64(len / 512, (const uint64_t *)(const void *)a,
                                     (const uint64_t *)(const void *)b, (uint64_t *)(void *)out);
}

static const struct operation {
  const char *name;
  operation_fn *run;
} OPERATIONS[] = {ALGEBRA_FUNCTIONS(ALGEBRA_ROW)};

typedef struct contender {
  operation_fn *run;
  char isa[32];
} contender;

static const char *open_algebra(void **out, const bench_spec *spec) {
  size_t size = strcspn(spec->variant, "+");
  contender *made = calloc(1, sizeof *made);
  if (made == NULL || size >= sizeof made->isa || spec->m != 1 || spec->len % 512 != 0) {
    free(made);
    return "no such variant or shape";
  }
  memcpy(made->isa, spec->variant, size);
  for (size_t n = 0; n < sizeof OPERATIONS / sizeof *OPERATIONS; n++)
    if (strcmp(OPERATIONS[n].name, spec->variant + size + (spec->variant[size] == '+')) == 0)
      made->run = OPERATIONS[n].run;
  const char *why = made->run == NULL ? "no such function" : NULL;
  if (why == NULL && gfsmith_set_isa(made->isa) != GFSMITH_OK)
    why = "no such instruction set in this build or on this CPU";
  if (why != NULL)
    free(made);
  else
    *out = made;
  return why;
}

/* Uses the set in force. Selecting it queries the CPU, so this happens only once, in the untimed
 * stripes. */
static void run(void *opaque, const bench_job *job) {
  const contender *one = opaque;
  if (strcmp(gfsmith_isa(), one->isa) != 0)
    (void)gfsmith_set_isa(one->isa);
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    (void)one->run(job->len, shard[0], shard[job->k - 1], shard[job->k]);
  }
}

static void close_algebra(void *opaque) { free(opaque); }

const peer_api algebra_contender = {open_algebra, run, close_algebra};
