/* harness.h: executes generated kernels and checks their whole contract.
 *
 * A kernel is void(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src, uint8_t
 * *const *dst); docs/contract.md is its contract. No argument is narrower than a register, so there
 * are no undefined upper halves to fill. A kernel of fixed k gets junk as its argument k, and a
 * kernel without a table gets an unreadable address as its table.
 *
 * The parts, each in a file:
 *   kernels.c      the list, from gen_out/kernels.inc, pipelined.inc, baked.inc and matrices.inc
 *   arena.c        memory between guard pages, canaries
 *   model.c        coefficient tables and expected bytes, from a multiplication table only
 *   stack.c        the stack on which a kernel runs
 *   call.c         one call, and the signals that it may raise
 *   run.c          one call of one kernel: place, call, compare
 *   sweeps.c       the calls to make
 * and for each machine a folder (machine.h states its contents):
 *   trampoline.S   the call itself: junk in every register before, every register saved after
 *   abi.c          the ABIs: the state before the call, the conditions after the return
 * The harness is a shared library in the process of the tests; for an emulated machine it is a
 * program of its own (program/main.c). */
#ifndef GFSMITH_TEST_HARNESS_H
#define GFSMITH_TEST_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum operation {
  OPERATION_dot,
  OPERATION_mad,
  OPERATION_mul,
  OPERATION_xor,
  OPERATION_horner,
  OPERATION_fft,
  OPERATION_ifft,
  OPERATION_fft4,
  OPERATION_ifft4,
  OPERATION_fft16,
  OPERATION_ifft16,
  OPERATION_refft16,
  OPERATION_fft4lines,
  OPERATION_ifft4lines,
  OPERATION_fft4scaled,
  OPERATION_ifft4scaled
};
static inline bool is_butterfly(enum operation operation) { return operation >= OPERATION_fft; }

/* True if elements change at one end: sources or destinations. */
static inline bool has_changes(enum operation operation) {
  return operation >= OPERATION_fft4lines;
}

enum tables {
  TABLES_nibble,
  TABLES_permxor,
  TABLES_affine,
  TABLES_isal, /* this and the next by output, job.columns each; all others by source */
  TABLES_isal_nibble,
  TABLES_bitplane,
  TABLES_mulb,
  TABLES_none
};
static inline bool is_by_rows(enum tables tables) {
  return tables == TABLES_isal || tables == TABLES_isal_nibble;
}
enum abi { ABI_SYSV, ABI_MS }; /* a machine with one ABI uses the first */

struct kernel {
  const char *symbol;
  const char *isa;
  enum operation operation;
  unsigned inputs; /* 0: any k, from the argument */
  unsigned outputs;
  unsigned unroll; /* 0: the symbol states it */
  unsigned lines;  /* pipelined: src has `lines` more pointers per source, for prefetches */
  enum tables tables;
  const char *code[2];   /* by enum abi; NULL where the kernel does not exist for that ABI */
  const uint8_t *matrix; /* baked: outputs rows of inputs elements; NULL: run-time coefficients */
};

/* If four elements, of which some change, have two planes each, these are the low and high halves
 * of LINE bytes; their lengths are multiples of LINE_PART. */
enum { LINE = 64, LINE_PART = 32 };
static inline bool has_lines(const struct kernel *kernel) {
  return has_changes(kernel->operation) && kernel->outputs == 8;
}

extern const struct kernel harness_kernels[];
extern const size_t harness_kernel_count;
size_t kernel_vector_bytes(const struct kernel *);
size_t kernel_block_bytes(const struct kernel *); /* bytes of one iteration of the main loop */

/* ---- arena.c: regions of memory, each between guards of PROT_NONE ---- */

enum {
  MAX_SHARDS = 300,          /* more than an 8-bit counter of sources can hold */
  REGION_BYTES = 160 * 1024, /* the largest buffer, its canaries and its misalignment */
  GUARD_BYTES = 16 * 1024,   /* half belongs to the region before, half to the one after */
  CANARY_BYTES = 512,        /* checked on both sides of a buffer, within its region */
  MAX_LEN = 80 * 1024,
  MAX_LINES = 8, /* prefetch pointers per source */
};
enum region {
  REGION_STACK,
  REGION_COEFFS,
  REGION_SRC_ARRAY,
  REGION_DST_ARRAY,
  REGION_SOURCES,
  REGION_DESTINATIONS = REGION_SOURCES + MAX_SHARDS,
  REGION_COUNT = REGION_DESTINATIONS + MAX_SHARDS,
};

/* Positions of the buffers of a call in their regions. */
enum placement_kind {
  PLACE_START,  /* right after a guard: an access one byte earlier faults */
  PLACE_END,    /* right before a guard: an access one byte further faults */
  PLACE_SPREAD, /* canaries on both sides, each buffer at its own misalignment */
  PLACE_SAME,   /* canaries on both sides, all buffers at the same misalignment */
};
struct placement {
  enum placement_kind kind;
  unsigned shift; /* SPREAD, SAME: the misalignment, modulo 64 */
};

bool arena_create(void);
void arena_reset(void); /* restores the canaries in every byte of every region in use */
uint8_t *arena_base(unsigned region);
const uint8_t *arena_guard(unsigned region); /* the guard before the region: nothing is readable */
uint8_t *arena_place(unsigned region, size_t size, size_t alignment, struct placement);
void arena_restore(const uint8_t *buffer, size_t size);
/* Returns the first byte near [buffer, buffer+size) that differs from its canary, or NULL. */
const uint8_t *arena_canary_broken(const uint8_t *buffer, size_t size);
void arena_describe(const void *address, char *text, size_t size);

/* ---- call.c: one call under an ABI ---- */

struct call {
  const char *code;
  enum abi abi;
  uint64_t arguments[5];
  bool dirty_uppers; /* enter with junk in bits 128 and up of the vector registers, or with zeros */
  bool stepped;      /* single-step: destroy the bytes below the stack (and red zone), trace */
  uint64_t seed;     /* seed of the junk */
  /* out, when stepped: */
  uint64_t steps, trace; /* instructions executed, hash of their addresses */
};
bool call_begin(void); /* installs signal handlers and the watchdog */
void call_end(void);
/* Returns false if the call failed; `failure` then has the reason. */
bool call_kernel(struct call *, char *failure, size_t size);

/* ---- model.c: arguments of the kernel and expected results ---- */

enum coefficients {
  COEFFICIENTS_MIXED,   /* random, mixed with 0, 1 and 255 */
  COEFFICIENTS_RANDOM,  /* uniform */
  COEFFICIENTS_SHIFTED, /* value, value + 37, value + 74, ...: every value occurs at every place */
  COEFFICIENTS_ALL,     /* all equal to value */
};
struct recipe {
  size_t k, len;
  enum coefficients coefficients;
  uint8_t value;
  bool zero_data; /* all sources zero instead of random */
  uint64_t seed;
};
struct job {
  const struct kernel *kernel;
  enum abi abi;
  const uint8_t *multiply; /* multiply[256 * c + x] = c * x */
  struct recipe recipe;
  size_t outputs; /* mul: k */
  uint8_t *table; /* the kernel's table, table_bytes long */
  size_t columns; /* of the table */
  size_t table_bytes;
  uint8_t *product; /* outputs rows of MAX_LEN: the sums over the sources */
  bool thin;        /* sweeps.c: fewer repetitions */
  uint64_t cases;
  char failure[768];
};
uint64_t next_random(uint64_t *state);
bool job_create(struct job *, const struct kernel *, enum abi, const uint8_t *multiply);
void job_destroy(struct job *);
bool job_prepare(struct job *, struct recipe);
const uint8_t *job_source(const struct job *, size_t index);      /* recipe.len bytes */
const uint8_t *job_destination(const struct job *, size_t index); /* initial contents of dst */

/* ---- run.c ---- */

enum aliasing {
  ALIAS_NONE,
  ALIAS_FIRST,   /* dst[0] == src[0] */
  ALIAS_SAME,    /* dst[i] == src[i] for every i that both have */
  ALIAS_CROSSED, /* mad: dst[r-1-i] == src[i] for every i that both have */
};
struct testcase {
  size_t len;
  struct placement placement;
  enum aliasing aliasing;
  bool stepped;
  uint64_t steps, trace; /* out, when stepped */
};
/* Returns false on failure; job->failure has the reason and the place. */
bool run_case(struct job *, struct testcase *);

/* ---- sweeps.c: the interface to Python ---- */

/* Runs one sweep ("lengths", "large", "wide", "coefficients", "alignments", "in_place", "stepped")
 * of one kernel, with fewer repetitions if `thin`. Returns the number of calls made, 0 if the sweep
 * does not apply to the kernel, or -1 with one line in `report`. */
long harness_run(const char *symbol, int abi, const char *sweep, bool thin, const uint8_t *multiply,
                 char *report, size_t report_size);
const void *harness_address(const char *symbol, int abi);
size_t harness_block_bytes(const char *symbol); /* 0: no such kernel */

#endif
