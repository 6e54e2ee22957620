#include "table_entries.h"

#include <string.h>

#include "cpu.h"

/* The powers x^n mod p, p = x^8 + x^4 + x^3 + x^2 + 1, each computed from the previous one. */
#define TIMES_X(power) ((power) << 1 ^ ((power) >> 7) * 0x11d)
enum {
  P0 = 1,
  P1 = TIMES_X(P0),
  P2 = TIMES_X(P1),
  P3 = TIMES_X(P2),
  P4 = TIMES_X(P3),
  P5 = TIMES_X(P4),
  P6 = TIMES_X(P5),
  P7 = TIMES_X(P6),
  P8 = TIMES_X(P7),
  P9 = TIMES_X(P8),
  P10 = TIMES_X(P9),
  P11 = TIMES_X(P10),
  P12 = TIMES_X(P11),
  P13 = TIMES_X(P12),
  P14 = TIMES_X(P13)
};

/* Bit n: the coefficient of x^i in x^n mod p. Bit b of row i of the matrix of v -> x^a v is the
 * coefficient of x^i in x^(a+b), so that row is IN_POWERS(i) >> a. */
#define IN_POWERS(i)                                                                               \
  ((P0 >> (i) & 1) << 0 | (P1 >> (i) & 1) << 1 | (P2 >> (i) & 1) << 2 | (P3 >> (i) & 1) << 3 |     \
   (P4 >> (i) & 1) << 4 | (P5 >> (i) & 1) << 5 | (P6 >> (i) & 1) << 6 | (P7 >> (i) & 1) << 7 |     \
   (P8 >> (i) & 1) << 8 | (P9 >> (i) & 1) << 9 | (P10 >> (i) & 1) << 10 | (P11 >> (i) & 1) << 11 | \
   (P12 >> (i) & 1) << 12 | (P13 >> (i) & 1) << 13 | (P14 >> (i) & 1) << 14)
enum {
  IN0 = IN_POWERS(0),
  IN1 = IN_POWERS(1),
  IN2 = IN_POWERS(2),
  IN3 = IN_POWERS(3),
  IN4 = IN_POWERS(4),
  IN5 = IN_POWERS(5),
  IN6 = IN_POWERS(6),
  IN7 = IN_POWERS(7)
};

/* The matrix of v -> c v in GFS_FORMAT_affine: the last row first. */
#define ROW(in, c)                                                                                 \
  (0xff &                                                                                          \
   (((c) & 1) * ((in) >> 0) ^ ((c) >> 1 & 1) * ((in) >> 1) ^ ((c) >> 2 & 1) * ((in) >> 2) ^        \
    ((c) >> 3 & 1) * ((in) >> 3) ^ ((c) >> 4 & 1) * ((in) >> 4) ^ ((c) >> 5 & 1) * ((in) >> 5) ^   \
    ((c) >> 6 & 1) * ((in) >> 6) ^ ((c) >> 7 & 1) * ((in) >> 7)))
#define MATRIX(c)                                                                                  \
  {ROW(IN7, c), ROW(IN6, c), ROW(IN5, c), ROW(IN4, c),                                             \
   ROW(IN3, c), ROW(IN2, c), ROW(IN1, c), ROW(IN0, c)}
#define MATRICES_4(c) MATRIX(c), MATRIX((c) + 1), MATRIX((c) + 2), MATRIX((c) + 3)
#define MATRICES_16(c) MATRICES_4(c), MATRICES_4((c) + 4), MATRICES_4((c) + 8), MATRICES_4((c) + 12)
#define MATRICES_64(c)                                                                             \
  MATRICES_16(c), MATRICES_16((c) + 16), MATRICES_16((c) + 32), MATRICES_16((c) + 48)

const uint8_t gfs_isal_matrices[256][8] = {MATRICES_64(0), MATRICES_64(64), MATRICES_64(128),
                                           MATRICES_64(192)};

static unsigned times_x(unsigned a) { return TIMES_X(a); }

/* Compute c times 0, 1, ... 15 as sums of c times 1, 2, 4 and 8. */
static void multiples(unsigned c, uint8_t *sixteen) {
  static const uint8_t has_bit[3][8] = {
      {0, 1, 0, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}};
  uint64_t eight = 0;
  for (unsigned bit = 0; bit < 3; bit++, c = times_x(c)) {
    uint64_t ones;
    memcpy(&ones, has_bit[bit], sizeof ones);
    eight ^= c * ones; /* bytes of 0 and 1: no carries */
  }
  uint64_t more = eight ^ c * UINT64_C(0x0101010101010101);
  memcpy(sixteen, &eight, sizeof eight);
  memcpy(sixteen + 8, &more, sizeof more);
}

void gfs_isal_products(uint8_t c, uint8_t *entry) {
  multiples(c, entry);
  multiples(times_x(times_x(times_x(times_x(c)))), entry + 16);
}

/* GFNI with vectors of at least 32 bytes. */
static bool prefers_matrices(const gfs_isa *isa) {
  return isa != NULL && isa->format == GFS_FORMAT_affine &&
         (isa->features & (GFSMITH_CPU_AVX2 | GFSMITH_CPU_AVX512F)) != 0;
}

void gfs_isal_entry(const gfs_isa *isa, uint8_t c, uint8_t *entry) {
  if (!prefers_matrices(isa)) {
    gfs_isal_products(c, entry);
    return;
  }
  for (unsigned n = 0; n < 4; n++)
    memcpy(entry + 8 * n, gfs_isal_matrices[c], 8);
}

static inline void to_affine(const uint8_t *entry, uint8_t *to) {
  memcpy(to, gfs_isal_is_matrices(entry) ? entry : gfs_isal_matrices[entry[1]], 8);
}

/* The same for an entry of the form MATRICES. */
static inline void first_copy(const uint8_t *entry, uint8_t *to) { memcpy(to, entry, 8); }

static inline void to_nibble(const uint8_t *entry, uint8_t *to) {
  if (gfs_isal_is_matrices(entry))
    gfs_isal_products(gfs_isal_coefficient(entry), to);
  else
    memcpy(to, entry, GFS_ISAL_ENTRY);
}

static inline void to_permxor(const uint8_t *entry, uint8_t *to) {
  uint8_t products[GFS_ISAL_ENTRY];
  to_nibble(entry, products);
  for (unsigned n = 0; n < GFS_ISAL_ENTRY; n++)
    to[n ^ 7] = products[n];
}

static inline void to_bitplane(const uint8_t *entry, uint8_t *to) {
  uint8_t products[GFS_ISAL_ENTRY];
  to_nibble(entry, products);
  for (unsigned bit = 0; bit < 4; bit++) {
    to[bit] = products[1u << bit];
    to[4 + bit] = products[16 + (1u << bit)];
  }
}

bool gfs_isal_rows_are(gfs_isal_form form, const uint8_t *entries, size_t stride, size_t inputs,
                       size_t outputs) {
  for (; outputs > 0; outputs--, entries += stride * GFS_ISAL_ENTRY) {
    const uint8_t *entry = entries;
    size_t left = inputs;
    for (; left > 0 && entry[0] == 0 && entry[1] == 0; left--)
      entry += GFS_ISAL_ENTRY;
    if (left > 0 && !gfs_isal_has_form(form, entry))
      return false;
  }
  return true;
}

/* One loop for each format, so that the compiler inlines its body. */
#define EACH(convert, bytes)                                                                       \
  for (size_t j = 0; j < inputs; j++, entries += GFS_ISAL_ENTRY) {                                 \
    const uint8_t *entry = entries;                                                                \
    for (size_t i = 0; i < outputs; i++, tables += (bytes), entry += stride * GFS_ISAL_ENTRY)      \
      convert(entry, tables);                                                                      \
  }

void gfs_isal_gather(gfs_format format, const uint8_t *entries, size_t stride, size_t inputs,
                     size_t outputs, uint8_t *tables) {
  switch (format) {
  case GFS_FORMAT_affine:
    if (gfs_isal_rows_are(GFS_ISAL_MATRICES, entries, stride, inputs, outputs)) {
      EACH(first_copy, 8)
    } else {
      EACH(to_affine, 8)
    }
    break;
  case GFS_FORMAT_nibble:
    EACH(to_nibble, 32)
    break;
  case GFS_FORMAT_permxor:
    EACH(to_permxor, 32)
    break;
  case GFS_FORMAT_bitplane:
    EACH(to_bitplane, 8)
    break;
  case GFS_FORMAT_isal: /* read in place */
  case GFS_FORMAT_isal_nibble:
  case GFS_FORMAT_mulb: /* for another field */
  case GFS_FORMAT_none:
    break;
  }
}
