/* model.c: the tables that a kernel reads and the bytes that it must write.
 *
 * Both follow from the definitions of the formats and from one multiplication table, which comes
 * from the sympy model; the generator's own table code is not used. */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

enum {
  POOL_STEP = 211, /* source j begins at byte POOL_STEP * j of the pool: all sources differ */
  POOL_BYTES = MAX_LEN + POOL_STEP * 2 * MAX_SHARDS,
  ENTRY_MAX = 32,
  OUTPUTS_MAX = MAX_SHARDS, /* mul: as many outputs as sources */
};

static uint8_t random_pool[POOL_BYTES];
static const uint8_t zero_pool[POOL_BYTES];

/* xorshift64*, Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
uint64_t next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(0x2545f4914f6cdd1d);
}

void junk_bytes(uint64_t *state, void *to, size_t size) {
  memcpy(to, random_pool + next_random(state) % (POOL_BYTES - size), size);
}

static void fill_pool(void) {
  static bool done;
  uint64_t state = 0x706f6f6c;
  for (size_t i = 0; !done && i < POOL_BYTES; i++) {
    random_pool[i] = (uint8_t)(next_random(&state) >> 32);
  }
  done = true;
}

bool job_create(struct job *job, const struct kernel *kernel, enum abi abi,
                const uint8_t *multiply) {
  memset(job, 0, sizeof *job);
  job->kernel = kernel;
  job->abi = abi;
  job->multiply = multiply;
  fill_pool();
  size_t rows = kernel->operation == OPERATION_mul ? OUTPUTS_MAX : kernel->outputs;
  job->table = malloc(rows * MAX_SHARDS * ENTRY_MAX);
  job->product = malloc(rows * MAX_LEN);
  return job->table != NULL && job->product != NULL;
}

void job_destroy(struct job *job) {
  free(job->table);
  free(job->product);
}

const uint8_t *job_source(const struct job *job, size_t index) {
  return (job->recipe.zero_data ? zero_pool : random_pool) + POOL_STEP * index;
}

const uint8_t *job_destination(const struct job *job, size_t index) {
  return (job->recipe.zero_data ? zero_pool : random_pool) + POOL_STEP * (MAX_SHARDS + index);
}

/* (2^output)^source */
static uint8_t horner_coefficient(const struct job *job, size_t source, size_t output) {
  uint8_t c = 1;
  for (size_t n = 0; n < source; n++) {
    c = job->multiply[256 * (1u << output) + c];
  }
  return c;
}

/* Coefficients are numbered as in the table, those of a known matrix row by row. */
static uint8_t choose_coefficient(const struct job *job, size_t index, uint64_t *state) {
  const struct recipe *recipe = &job->recipe;
  const struct kernel *kernel = job->kernel;
  if (kernel->matrix != NULL) {
    return kernel->matrix[index % kernel->outputs * kernel->inputs + index / kernel->outputs];
  }
  if (kernel->operation == OPERATION_xor) {
    return 1;
  }
  if (kernel->operation == OPERATION_horner) {
    return horner_coefficient(job, index / kernel->outputs, index % kernel->outputs);
  }
  uint64_t random = next_random(state) >> 16;
  switch (recipe->coefficients) {
  case COEFFICIENTS_SHIFTED:
    return (uint8_t)(recipe->value + 37 * index);
  case COEFFICIENTS_ALL:
    return recipe->value;
  case COEFFICIENTS_MIXED:
    if (random % 5 < 3) {
      return (const uint8_t[]){0, 1, 255}[random % 5];
    }
    return (uint8_t)(random >> 8);
  case COEFFICIENTS_RANDOM:
    return (uint8_t)(random >> 8);
  }
  return 0;
}

/* Writes the entry of one coefficient c, in the format of the kernel's tables; returns its size in
 * bytes. */
static size_t write_entry(const struct job *job, uint8_t c, uint8_t *entry) {
  const uint8_t *times_c = job->multiply + 256 * c;
  switch (job->kernel->tables) {
  case TABLES_isal_nibble:
  case TABLES_nibble: /* c * n, then c * (n << 4) */
    for (unsigned n = 0; n < 16; n++) {
      entry[n] = times_c[n];
      entry[16 + n] = times_c[n << 4];
    }
    return 32;
  case TABLES_permxor: /* the same, with byte n of each half at n ^ 7 */
    for (unsigned n = 0; n < 16; n++) {
      entry[n ^ 7] = times_c[n];
      entry[16 + (n ^ 7)] = times_c[n << 4];
    }
    return 32;
  case TABLES_isal:   /* four times that of affine */
  case TABLES_affine: /* byte 7 - i: bit b is set if bit b of x contributes to bit i of c * x */
    for (unsigned i = 0; i < 8; i++) {
      unsigned row = 0;
      for (unsigned b = 0; b < 8; b++) {
        row |= (times_c[1u << b] >> i & 1u) << b;
      }
      entry[7 - i] = (uint8_t)row;
    }
    if (job->kernel->tables == TABLES_affine) {
      return 8;
    }
    for (unsigned n = 8; n < 32; n++) {
      entry[n] = entry[n - 8];
    }
    return 32;
  case TABLES_bitplane: /* c * a^b */
    for (unsigned b = 0; b < 8; b++) {
      entry[b] = times_c[1u << b];
    }
    return 8;
  case TABLES_mulb:
    memset(entry, c, 8);
    return 8;
  case TABLES_none:
    return 0;
  }
  return 0;
}

/* Skips the table for c = 0 and c = 1, the most frequent coefficients of packet layout, because
 * emulated CPUs are slow. */
static void add_product(uint8_t *sum, const uint8_t *multiply, uint8_t c, const uint8_t *source,
                        size_t len) {
  const uint8_t *times_c = multiply + 256 * c;
  for (size_t n = 0; c == 1 && n < len; n++) {
    sum[n] ^= source[n];
  }
  for (size_t n = 0; c > 1 && n < len; n++) {
    sum[n] ^= times_c[source[n]];
  }
}

/* Writes the entry of source j and output i to its place in the table. Source-major it is number j
 * * outputs + i (mul: number j), the next one. */
static void place_entry(struct job *job, size_t j, size_t i, uint8_t c) {
  if (is_by_rows(job->kernel->tables)) {
    write_entry(job, c, job->table + 32 * (i * job->columns + j));
    job->table_bytes = 32 * job->columns * job->outputs;
  } else {
    job->table_bytes += write_entry(job, c, job->table + job->table_bytes);
  }
}

static void prepare_sums(struct job *job, uint64_t *state) {
  const struct recipe *recipe = &job->recipe;
  bool mul = job->kernel->operation == OPERATION_mul;
  for (size_t i = 0; i < job->outputs; i++) {
    memset(job->product + i * MAX_LEN, 0, recipe->len);
  }
  job->table_bytes = 0;
  bool is_mad = job->kernel->operation == OPERATION_mad;
  job->columns = is_mad ? recipe->k + (size_t)job->cases % 3 : recipe->k;
  for (size_t j = 0; j < recipe->k; j++) {
    for (size_t i = mul ? j : 0; i < (mul ? j + 1 : job->outputs); i++) {
      uint8_t c = choose_coefficient(job, mul ? j : j * job->outputs + i, state);
      place_entry(job, j, i, c);
      add_product(job->product + i * MAX_LEN, job->multiply, c, job_source(job, j), recipe->len);
    }
  }
}

static bool is_inverse(enum operation operation) {
  return operation == OPERATION_ifft || operation == OPERATION_ifft4 ||
         operation == OPERATION_ifft16 || operation == OPERATION_ifft4lines ||
         operation == OPERATION_ifft4scaled;
}

static bool is_scaled(enum operation operation) {
  return operation == OPERATION_fft4scaled || operation == OPERATION_ifft4scaled;
}

static size_t elements_of(enum operation operation) {
  switch (operation) {
  case OPERATION_fft:
  case OPERATION_ifft:
    return 2;
  case OPERATION_fft16:
  case OPERATION_ifft16:
  case OPERATION_refft16:
    return 16;
  default:
    return 4;
  }
}

/* The butterfly of the elements x and y: x += C y, then y += x. Its inverse: y += x, then x += C y.
 * C is 0 if there is no matrix. */
static void add_pair(struct job *job, bool inverse, size_t x, size_t y, const uint8_t *matrix,
                     size_t planes) {
  for (int step = matrix == NULL ? 1 : 0; step < 2; step++) {
    bool multiplies = (step == 0) != inverse;
    for (size_t i = 0; i < planes; i++) {
      uint8_t *to = job->product + ((multiplies ? x : y) * planes + i) * MAX_LEN;
      if (!multiplies) {
        add_product(to, job->multiply, 1, job->product + (x * planes + i) * MAX_LEN,
                    job->recipe.len);
        continue;
      }
      for (size_t j = 0; j < planes; j++) {
        const uint8_t *from = job->product + (y * planes + j) * MAX_LEN;
        add_product(to, job->multiply, matrix[j * planes + i], from, job->recipe.len);
      }
    }
  }
}

/* Each element is multiplied by the next matrix, or of elements of two planes every second plane
 * times the first entry is added to the plane before it. */
static void change_elements(struct job *job, const uint8_t *entries, size_t planes) {
  static uint8_t before[2 * MAX_LEN];
  for (size_t i = 0; i < job->outputs; i += planes) {
    uint8_t *low = job->product + i * MAX_LEN;
    if (!is_scaled(job->kernel->operation)) {
      add_product(low, job->multiply, entries[0], low + MAX_LEN, job->recipe.len);
      continue;
    }
    memcpy(before, low, planes * MAX_LEN);
    memset(low, 0, planes * MAX_LEN);
    for (size_t n = 0; n < planes * planes; n++) {
      add_product(low + n % planes * MAX_LEN, job->multiply, entries[planes * i + n],
                  before + n / planes * MAX_LEN, job->recipe.len);
    }
  }
}

/* The layer of the elements at a distance: each block of twice the distance has the next matrix.
 * The matrices of the layers with larger distances stand before. zeros: the first matrix is 0. */
static void add_layer(struct job *job, bool inverse, size_t distance, const uint8_t *matrices,
                      size_t planes, bool zeros) {
  size_t elements = elements_of(job->kernel->operation);
  for (size_t x = 0; x < elements; x++) {
    if ((x & distance) == 0) {
      size_t block = x / (2 * distance), matrix = elements / (2 * distance) - 1 + block;
      add_pair(job, inverse, x, x + distance,
               zeros && block == 0 ? NULL : matrices + matrix * planes * planes, planes);
    }
  }
}

/* The layers have half of the elements as their distance, then a quarter, and so on; those of the
 * inverse the other order. */
static void add_layers(struct job *job, bool inverse, const uint8_t *matrices, size_t planes,
                       bool zeros) {
  size_t elements = elements_of(job->kernel->operation);
  for (size_t n = 1; n < elements; n *= 2) {
    add_layer(job, inverse, inverse ? n : elements / (2 * n), matrices, planes, zeros);
  }
}

/* Elements that change at one end do so by the columns behind the matrices. */
static void prepare_butterfly(struct job *job, uint64_t *state) {
  enum operation operation = job->kernel->operation;
  size_t elements = elements_of(operation), planes = job->outputs / elements;
  bool twice = operation == OPERATION_refft16;
  size_t matrices = (elements - 1) * planes;
  size_t more = is_scaled(operation) ? job->outputs : has_changes(operation);
  size_t columns = matrices * (twice ? 2 : 1) + more;
  uint8_t chosen[30] = {0}; /* twice those of 16 elements, or seven matrices */
  job->table_bytes = 0;
  for (size_t i = 0; i < job->outputs; i++) {
    memset(job->product + i * MAX_LEN, 0, job->recipe.len);
    add_product(job->product + i * MAX_LEN, job->multiply, 1, job_source(job, i), job->recipe.len);
  }
  for (size_t j = 0; j < columns; j++) {
    for (size_t i = 0; i < planes; i++) {
      chosen[j * planes + i] = choose_coefficient(job, j * planes + i, state);
      place_entry(job, j, i, chosen[j * planes + i]);
    }
  }
  if (has_changes(operation) && is_inverse(operation)) {
    change_elements(job, chosen + matrices * planes, planes);
  }
  if (twice) {
    add_layers(job, true, chosen + matrices * planes, planes, false);
  }
  add_layers(job, is_inverse(operation), chosen, planes, twice);
  if (has_changes(operation) && !is_inverse(operation)) {
    change_elements(job, chosen + matrices * planes, planes);
  }
}

bool job_prepare(struct job *job, struct recipe recipe) {
  job->recipe = recipe;
  job->outputs = job->kernel->operation == OPERATION_mul ? recipe.k : job->kernel->outputs;
  if (recipe.k > MAX_SHARDS || job->outputs > MAX_SHARDS || recipe.len > MAX_LEN) {
    return false;
  }
  uint64_t state = recipe.seed * 2 + 1;
  (is_butterfly(job->kernel->operation) ? prepare_butterfly : prepare_sums)(job, &state);
  return job->table_bytes + CANARY_BYTES + 64 <= REGION_BYTES;
}
