/* sweeps.c: the calls of a kernel to make. Each sweep is a function; harness_run selects one.
 *
 * Thin sweeps are for emulated CPUs, where a call costs some 20 microseconds and there are a dozen
 * instruction sets and vector lengths. A thin sweep makes every kind of call with fewer
 * repetitions: it uses the first entries of the lists below. It omits other coefficients with the
 * same lengths (sweep_coefficients has them all), and numbers of sources and large lengths that
 * exercise the same loops and counters as the remaining ones. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const struct placement at_start = {PLACE_START, 0}, at_end = {PLACE_END, 0};

static size_t vector_of(const struct job *job) { return kernel_vector_bytes(job->kernel); }

static size_t block_of(const struct job *job) { return kernel_block_bytes(job->kernel); }

static size_t usual_k(const struct job *job, size_t any) {
  return job->kernel->inputs != 0 ? job->kernel->inputs : any;
}

static bool prepare(struct job *job, struct recipe recipe) {
  if (!job_prepare(job, recipe)) {
    snprintf(job->failure, sizeof job->failure, "%s: k %zu, len %zu do not fit into the harness",
             job->kernel->symbol, recipe.k, recipe.len);
    return false;
  }
  return true;
}

static bool run_placed(struct job *job, size_t len, struct placement placement) {
  struct testcase test = {.len = len, .placement = placement};
  return run_case(job, &test);
}

static bool run_everywhere(struct job *job, size_t len, unsigned shift) {
  return run_placed(job, len, at_end) && run_placed(job, len, at_start) &&
         run_placed(job, len, (struct placement){PLACE_SPREAD, shift});
}

/* Every length until all loops and tails have run several times. The sets differ in k and
 * coefficients; a kernel that has both fixed needs only one. */
static bool sweep_lengths(struct job *job) {
  static const struct recipe sets[] = {
      {.k = 3, .coefficients = COEFFICIENTS_MIXED, .seed = 11},
      {.k = 4, .coefficients = COEFFICIENTS_RANDOM, .seed = 12},
      {.k = 1, .coefficients = COEFFICIENTS_MIXED, .seed = 13},
      {.k = 10, .coefficients = COEFFICIENTS_RANDOM, .seed = 14},
  };
  unsigned count = job->kernel->matrix != NULL || job->thin ? 1 : COUNT(sets);
  for (unsigned set = 0; set < count; set++) {
    struct recipe recipe = sets[set];
    recipe.k = usual_k(job, recipe.k);
    recipe.len = 4 * block_of(job) + 3;
    if (!prepare(job, recipe)) {
      return false;
    }
    for (size_t len = 0; len <= recipe.len; len++) {
      if (!run_everywhere(job, len, (unsigned)(len * 11 + 16 * set))) {
        return false;
      }
    }
  }
  return true;
}

/* Lengths that a counter of 8 or 16 bits cannot hold. */
static bool sweep_large(struct job *job) {
  static const size_t lengths[] = {257, 65553, 65536, 256, 1000, 4095, 4097, 65535, 70001};
  enum { THIN = 2 };
  size_t count = job->thin ? THIN : COUNT(lengths);
  struct recipe recipe = {.k = usual_k(job, 5),
                          .len = lengths[count - 1],
                          .coefficients = COEFFICIENTS_RANDOM,
                          .seed = 21};
  if (!prepare(job, recipe)) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (!run_everywhere(job, lengths[i], (unsigned)(i * 7))) {
      return false;
    }
  }
  return true;
}

/* Any k: none, few, more than there are registers, more than 8 bits can count. */
static bool sweep_wide(struct job *job) {
  static const size_t widths[] = {0, 1, 2, 3, 5, 8, 40, 257, 4, 7, 36, 127, 128, 255, 256, 300};
  enum { THIN_WIDTHS = 8, THIN_LENGTHS = 5 };
  size_t vector = vector_of(job), block = block_of(job);
  const size_t lengths[] = {
      0,          1,         vector - 1, block + 1,          2 * block + vector + 3, vector,
      vector + 1, block - 1, block,      block + vector / 2, 4 * block + 3,          4097};
  size_t width_count = job->kernel->inputs != 0 ? 0 : job->thin ? THIN_WIDTHS : COUNT(widths);
  size_t length_count = job->thin ? THIN_LENGTHS : COUNT(lengths);
  for (size_t i = 0; i < width_count; i++) {
    struct recipe recipe = {.k = widths[i],
                            .len = lengths[length_count - 1],
                            .coefficients = COEFFICIENTS_RANDOM,
                            .seed = 31 + i};
    if (!prepare(job, recipe)) {
      return false;
    }
    for (size_t n = 0; n < length_count; n++) {
      if (!run_everywhere(job, lengths[n], (unsigned)(i + n * 13))) {
        return false;
      }
    }
  }
  return true;
}

/* Every coefficient at every place of the table, if the kernel has run-time coefficients. */
static bool sweep_coefficients(struct job *job) {
  for (unsigned value = 0; job->kernel->matrix == NULL && value < 256; value++) {
    struct recipe recipe = {.k = usual_k(job, 4),
                            .len = 2 * block_of(job) + vector_of(job) / 2 + 3,
                            .coefficients = COEFFICIENTS_SHIFTED,
                            .value = (uint8_t)value};
    if (!prepare(job, recipe) || !run_placed(job, recipe.len, at_end)) {
      return false;
    }
  }
  return true;
}

static bool sweep_alignments(struct job *job) {
  size_t vector = vector_of(job), block = block_of(job);
  const size_t lengths[] = {vector / 2 + 1, block - 1, block, 2 * block + vector / 2 + 1,
                            5 * block + 3};
  struct recipe recipe = {
      .k = usual_k(job, 4), .len = 5 * block + 3, .coefficients = COEFFICIENTS_MIXED, .seed = 41};
  if (!prepare(job, recipe)) {
    return false;
  }
  for (unsigned shift = 0; shift < 64; shift++) {
    for (size_t n = 0; n < COUNT(lengths); n++) {
      if (!run_placed(job, lengths[n], (struct placement){PLACE_SAME, shift}) ||
          !run_placed(job, lengths[n], (struct placement){PLACE_SPREAD, shift})) {
        return false;
      }
    }
  }
  return true;
}

/* A mad kernel or a butterfly without lines allows any destination to equal any source, a mul
 * kernel the destination of the same index. */
static bool sweep_in_place(struct job *job) {
  enum operation operation = job->kernel->operation;
  bool crossed = operation == OPERATION_mad || (is_butterfly(operation) && !has_lines(job->kernel));
  if (!crossed && operation != OPERATION_mul) {
    return true;
  }
  size_t last = 2 * block_of(job) + vector_of(job) + 3;
  struct recipe recipe = {
      .k = usual_k(job, 3), .len = last, .coefficients = COEFFICIENTS_RANDOM, .seed = 51};
  if (!prepare(job, recipe)) {
    return false;
  }
  enum aliasing most = crossed ? ALIAS_CROSSED : ALIAS_SAME;
  for (int aliasing = ALIAS_FIRST; aliasing <= (int)most; aliasing++) {
    for (size_t len = 0; len <= last; len++) {
      struct testcase test = {.len = len, .placement = at_end, .aliasing = (enum aliasing)aliasing};
      struct testcase spread = test;
      spread.placement = (struct placement){PLACE_SPREAD, (unsigned)len * 5};
      if (!run_case(job, &test) || !run_case(job, &spread)) {
        return false;
      }
    }
  }
  return true;
}

/* Single-stepped: the stack below rsp (System V: below the red zone) does not survive a signal, and
 * the executed instructions do not depend on the data or the coefficients. Each instruction is a
 * signal, so there are only two sets: coefficients of 0 with random data, and mixed coefficients
 * with data of 0. This sweep does not detect memory addresses that depend on data; the
 * machine-code proof does. */
static bool sweep_stepped(struct job *job) {
  size_t vector = vector_of(job), block = block_of(job);
  const size_t lengths[] = {0, 1, vector - 1, block, 2 * block + vector + vector / 2 + 1};
  const struct recipe recipes[] = {
      {.coefficients = COEFFICIENTS_ALL, .value = 0},
      {.coefficients = COEFFICIENTS_MIXED, .seed = 62, .zero_data = true},
  };
  uint64_t steps = 0, trace = 0;
  for (size_t n = 0; n < COUNT(lengths); n++) {
    for (size_t i = 0; i < COUNT(recipes); i++) {
      struct recipe recipe = recipes[i];
      recipe.k = usual_k(job, 3);
      recipe.len = lengths[n];
      struct testcase test = {.len = lengths[n], .placement = at_end, .stepped = true};
      if (!prepare(job, recipe) || !run_case(job, &test)) {
        return false;
      }
      if (i > 0 && (test.steps != steps || test.trace != trace)) {
        snprintf(job->failure, sizeof job->failure,
                 "%s, len %zu: branches depend on data or coefficients: %llu instructions, then "
                 "%llu or others",
                 job->kernel->symbol, lengths[n], (unsigned long long)steps,
                 (unsigned long long)test.steps);
        return false;
      }
      steps = test.steps;
      trace = test.trace;
    }
  }
  return true;
}

static const struct {
  const char *name;
  bool (*run)(struct job *);
} sweeps[] = {
    {"lengths", sweep_lengths},
    {"large", sweep_large},
    {"wide", sweep_wide},
    {"coefficients", sweep_coefficients},
    {"alignments", sweep_alignments},
    {"in_place", sweep_in_place},
    {"stepped", sweep_stepped},
};

static const struct kernel *find_kernel(const char *symbol) {
  for (size_t i = 0; i < harness_kernel_count; i++) {
    if (strcmp(harness_kernels[i].symbol, symbol) == 0) {
      return &harness_kernels[i];
    }
  }
  return NULL;
}

const void *harness_address(const char *symbol, int abi) {
  const struct kernel *kernel = find_kernel(symbol);
  return kernel == NULL ? NULL : kernel->code[abi];
}

size_t harness_block_bytes(const char *symbol) {
  const struct kernel *kernel = find_kernel(symbol);
  return kernel == NULL ? 0 : kernel_block_bytes(kernel);
}

long harness_run(const char *symbol, int abi, const char *sweep, bool thin, const uint8_t *multiply,
                 char *report, size_t report_size) {
  static struct job job;
  const struct kernel *kernel = find_kernel(symbol);
  bool (*run)(struct job *) = NULL;
  for (size_t i = 0; i < COUNT(sweeps); i++) {
    run = strcmp(sweeps[i].name, sweep) == 0 ? sweeps[i].run : run;
  }
  if (kernel == NULL || kernel->code[abi] == NULL || run == NULL) {
    snprintf(report, report_size, "no kernel %s for this ABI, or no sweep %s", symbol, sweep);
    return -1;
  }
  bool good = arena_create() && job_create(&job, kernel, (enum abi)abi, multiply) && call_begin();
  if (!good) {
    snprintf(report, report_size, "the harness cannot allocate memory");
    return -1;
  }
  job.thin = thin;
  good = run(&job);
  call_end();
  if (!good) {
    snprintf(report, report_size, "%s", job.failure);
    arena_reset();
  }
  job_destroy(&job);
  return good ? (long)job.cases : -1;
}
