/* field.c: elements and matrices of ISA-L's erasure_code.h. */
#include <string.h>

#include "isa-l/erasure_code.h"
#include "table_entries.h"

typedef unsigned char byte;

/* Without tables, and without branches that depend on a or b. */
byte gf_mul(byte a, byte b) {
  unsigned product = 0;
  for (unsigned bit = 0; bit < 8; bit++)
    product ^= (unsigned)a << bit & -(b >> bit & 1u);
  for (unsigned bit = 14; bit >= 8; bit--)
    product ^= 0x11du << (bit - 8) & -(product >> bit & 1u);
  return (byte)product;
}

/* a^254 = a^(2 + 4 + ... + 128): 1/a, and 0 for 0. */
byte gf_inv(byte a) {
  byte square = gf_mul(a, a), product = square;
  for (unsigned n = 2; n < 8; n++) {
    square = gf_mul(square, square);
    product = gf_mul(product, square);
  }
  return product;
}

/* Return a number of rows or columns; a negative one counts as 0. */
static size_t count_of(int number) { return number < 0 ? 0 : (size_t)number; }

/* Write the identity to the first k of m rows of k, and zeros to the others. */
static byte *identity(byte *a, int m, int k) {
  size_t width = count_of(k);
  memset(a, 0, width * count_of(m));
  for (size_t i = 0; i < width; i++)
    a[i * width + i] = 1;
  return a + width * width;
}

void gf_gen_rs_matrix(byte *a, int m, int k) {
  byte *element = identity(a, m, k);
  byte base = 1;
  for (int i = k; i < m; i++, base = gf_mul(base, 2)) {
    byte power = 1;
    for (int j = 0; j < k; j++, power = gf_mul(power, base))
      *element++ = power;
  }
}

void gf_gen_cauchy1_matrix(byte *a, int m, int k) {
  byte *element = identity(a, m, k);
  for (int i = k; i < m; i++)
    for (int j = 0; j < k; j++)
      *element++ = gf_inv((byte)(i ^ j));
}

static byte product(const byte *entry, byte b) { return entry[b & 15] ^ entry[16 + (b >> 4)]; }

static void scale(byte *row, const byte *entry, size_t n) {
  for (size_t j = 0; j < n; j++)
    row[j] = product(entry, row[j]);
}

static void add_multiple(byte *row, const byte *other, const byte *entry, size_t n) {
  for (size_t j = 0; j < n; j++)
    row[j] ^= product(entry, other[j]);
}

static void swap(byte *a, byte *b, size_t n) {
  for (size_t j = 0; j < n; j++) {
    byte kept = a[j];
    a[j] = b[j];
    b[j] = kept;
  }
}

/* Gauss-Jordan elimination with the pivots of ISA-L's implementation, so that the matrices have the
 * same contents after a singular input. */
int gf_invert_matrix(byte *in, byte *out, const int size) {
  size_t n = count_of(size);
  byte entry[GFS_ISAL_ENTRY];
  identity(out, size, size);
  for (size_t i = 0; i < n; i++) {
    size_t pivot = i;
    while (pivot < n && in[pivot * n + i] == 0)
      pivot++;
    if (pivot == n)
      return -1;
    if (pivot != i) {
      swap(in + i * n, in + pivot * n, n);
      swap(out + i * n, out + pivot * n, n);
    }
    gfs_isal_products(gf_inv(in[i * n + i]), entry);
    scale(in + i * n, entry, n);
    scale(out + i * n, entry, n);
    for (size_t row = 0; row < n; row++) {
      if (row == i || in[row * n + i] == 0)
        continue;
      gfs_isal_products(in[row * n + i], entry);
      add_multiple(out + row * n, out + i * n, entry, n);
      add_multiple(in + row * n, in + i * n, entry, n);
    }
  }
  return 0;
}
