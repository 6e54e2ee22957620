#include "model.h"

/* Returns the degree of a polynomial over GF(2); -1 for 0. */
static int degree(unsigned p) {
  int n = -1;
  for (; p != 0; p >>= 1)
    n++;
  return n;
}

static unsigned remainder_of(unsigned p, unsigned divisor) {
  while (degree(p) >= degree(divisor))
    p ^= divisor << (degree(p) - degree(divisor));
  return p;
}

bool model_irreducible(unsigned polynomial) {
  if (degree(polynomial) != 8)
    return false;
  for (unsigned divisor = 2; divisor < 32; divisor++)
    if (remainder_of(polynomial, divisor) == 0)
      return false;
  return true;
}

const uint8_t *model_products(unsigned polynomial, uint8_t x) {
  static uint8_t *tables[256]; /* 64 KiB for each polynomial that has occurred */
  uint8_t **table = &tables[polynomial & 0xff];
  if (*table == NULL) {
    REQUIRE((*table = malloc(65536)) != NULL);
    for (unsigned a = 0; a < 256; a++)
      for (unsigned b = 0; b < 256; b++) {
        unsigned product = 0;
        for (unsigned bit = 0; bit < 8; bit++)
          product ^= (b >> bit & 1) * (a << bit);
        (*table)[a * 256 + b] = (uint8_t)remainder_of(product, polynomial);
      }
  }
  return *table + x * 256;
}

uint8_t model_inverse(unsigned polynomial, uint8_t x) {
  const uint8_t *products = model_products(polynomial, x);
  for (unsigned y = 1; y < 256; y++)
    if (products[y] == 1)
      return (uint8_t)y;
  return 0;
}

/* Adds packet x to packet y of a region if bit y of c 2^x is set. */
static void add_region(const uint8_t *products, size_t packet, const uint8_t *in, uint8_t *out) {
  for (unsigned y = 0; y < 8; y++)
    for (unsigned x = 0; x < 8; x++)
      for (size_t b = 0; (products[1u << x] >> y & 1) && b < packet; b++)
        out[y * packet + b] ^= in[x * packet + b];
}

void model_add(unsigned polynomial, size_t packet, uint8_t c, size_t len, const uint8_t *in,
               uint8_t *out) {
  const uint8_t *products = model_products(polynomial, c);
  if (packet == 0)
    for (size_t b = 0; b < len; b++)
      out[b] ^= products[in[b]];
  else
    for (size_t b = 0; b < len; b += 8 * packet)
      add_region(products, packet, in + b, out + b);
}

/* Computes row i of the generator matrix: shard i as a combination of the data. */
static void generator_row(unsigned k, const uint8_t *matrix, unsigned i, uint8_t *row) {
  memset(row, 0, k);
  if (i < k)
    row[i] = 1;
  else
    memcpy(row, matrix + (size_t)(i - k) * k, k);
}

/* A basis in echelon form: basis[c] begins with 1 at column c, if used[c]. */
typedef struct echelon {
  unsigned polynomial, k;
  uint8_t basis[MODEL_SHARDS][MODEL_SHARDS];
  bool used[MODEL_SHARDS];
} echelon;

/* Reduces a row by the basis; returns the first remaining column, or k. */
static unsigned reduce(const echelon *e, uint8_t *row) {
  unsigned first = e->k;
  for (unsigned c = 0; c < e->k; c++) {
    if (row[c] == 0)
      continue;
    if (!e->used[c]) {
      first = first == e->k ? c : first;
      continue;
    }
    const uint8_t *products = model_products(e->polynomial, row[c]);
    for (unsigned j = c; j < e->k; j++)
      row[j] ^= products[e->basis[c][j]];
  }
  return first;
}

void model_determined(unsigned polynomial, unsigned k, unsigned m, const uint8_t *matrix,
                      const bool *present, bool *determined) {
  static echelon e;
  uint8_t row[MODEL_SHARDS];
  e.polynomial = polynomial;
  e.k = k;
  memset(e.used, 0, sizeof e.used);
  for (unsigned i = 0; i < k + m; i++) {
    if (!present[i])
      continue;
    generator_row(k, matrix, i, row);
    unsigned first = reduce(&e, row);
    if (first == k)
      continue;
    const uint8_t *scale = model_products(polynomial, model_inverse(polynomial, row[first]));
    for (unsigned j = 0; j < k; j++)
      e.basis[first][j] = scale[row[j]];
    e.used[first] = true;
  }
  for (unsigned i = 0; i < k + m; i++) {
    generator_row(k, matrix, i, row);
    determined[i] = reduce(&e, row) == k;
  }
}

/* Returns element `row` of a shard's column in the parity check matrix. */
static uint8_t column(unsigned k, const uint8_t *matrix, unsigned shard, unsigned row) {
  return shard < k ? matrix[(size_t)row * k + shard] : (uint8_t)(shard - k == row);
}

/* Returns true if column a times some element equals column b. */
static bool proportional(unsigned polynomial, unsigned k, unsigned m, const uint8_t *matrix,
                         unsigned a, unsigned b) {
  for (unsigned c = 1; c < 256; c++) {
    const uint8_t *products = model_products(polynomial, (uint8_t)c);
    unsigned row = 0;
    while (row < m && products[column(k, matrix, a, row)] == column(k, matrix, b, row))
      row++;
    if (row == m)
      return true;
  }
  return false;
}

bool model_distinct(unsigned polynomial, unsigned k, unsigned m, const uint8_t *matrix) {
  for (unsigned a = 0; a < k + m; a++) {
    bool zero = true;
    for (unsigned row = 0; row < m; row++)
      zero = zero && column(k, matrix, a, row) == 0;
    for (unsigned b = 0; b < a; b++)
      if (zero || proportional(polynomial, k, m, matrix, a, b))
        return false;
    if (zero)
      return false;
  }
  return true;
}
