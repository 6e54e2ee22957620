/* field.c: elements, tables and matrices, with every byte of the results. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "pair.h"

typedef byte binary(byte, byte);
typedef byte unary(byte);
typedef void table(byte, byte *);
typedef void tables(int, int, byte *, byte *);
typedef void matrix(byte *, int, int);
typedef int inverse(byte *, byte *, int);

static void elements(void) {
  binary *mul[] = {(binary *)pair_function(OURS, "gf_mul"),
                   (binary *)pair_function(REAL, "gf_mul")};
  unary *inv[] = {(unary *)pair_function(OURS, "gf_inv"), (unary *)pair_function(REAL, "gf_inv")};
  for (unsigned a = 0; a < 256; a++) {
    pair_expect(inv[OURS]((byte)a) == inv[REAL]((byte)a), "gf_inv", a, 0, 0);
    for (unsigned b = 0; b < 256; b++)
      pair_expect(mul[OURS]((byte)a, (byte)b) == mul[REAL]((byte)a, (byte)b), "gf_mul", a, b, 0);
  }
}

/* Writes the expected entry: that of the real library, or the other form. */
static void expect_entry(byte c, bool matrices, byte *entry) {
  if (matrices)
    pair_matrices(c, entry);
  else
    ((table *)pair_function(REAL, "gf_vect_mul_init"))(c, entry);
}

static void entries(void) {
  const char *names[] = {"gf_vect_mul_init", "gf_vect_mul_init_base"};
  for (unsigned n = 0; n < 2; n++)
    for (unsigned c = 0; c < 256; c++) {
      byte made[2][34] = {{0}};
      ((table *)pair_function(OURS, names[n]))((byte)c, made[OURS] + 1); /* not aligned */
      expect_entry((byte)c, n == 0 && pair_has_matrices(), made[REAL] + 1);
      pair_expect(memcmp(made[OURS], made[REAL], 34) == 0, names[n], c, 0, 0);
    }
}

static void whole_tables(void) {
  const char *names[] = {"ec_init_tables", "ec_init_tables_base"};
  static byte made[2][32 * 256];
  byte coefficients[256];
  for (unsigned n = 0; n < 256; n++)
    coefficients[n] = (byte)pair_random();
  for (unsigned n = 0; n < 2; n++) {
    memset(made, 0, sizeof made);
    ((tables *)pair_function(OURS, names[n]))(17, 13, coefficients, made[OURS]);
    for (unsigned c = 0; c < 17 * 13; c++)
      expect_entry(coefficients[c], n == 0 && pair_has_matrices(), made[REAL] + 32 * c);
    pair_expect(memcmp(made[OURS], made[REAL], sizeof made[0]) == 0, names[n], 17, 13, 0);
  }
}

static void generators(void) {
  const char *names[] = {"gf_gen_rs_matrix", "gf_gen_cauchy1_matrix"};
  static const int shapes[][2] = {{1, 1},   {2, 2},    {3, 2},     {6, 4},    {14, 10},
                                  {20, 17}, {55, 255}, {120, 100}, {256, 10}, {300, 255}};
  static byte made[2][300 * 255];
  for (unsigned n = 0; n < 2; n++)
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      int m = shapes[s][0], k = shapes[s][1];
      if (m < k)
        continue; /* both would write k rows into the space of m */
      memset(made, 7, sizeof made);
      for (int library = 0; library < LIBRARIES; library++)
        ((matrix *)pair_function(library, names[n]))(made[library], m, k);
      pair_expect(memcmp(made[OURS], made[REAL], sizeof made[0]) == 0, names[n], m, k, 0);
    }
}

/* Fills random matrices, among them some with zero pivots and some without an inverse. */
static void fill(byte *square, int n, unsigned kind) {
  for (int at = 0; at < n * n; at++)
    square[at] = (byte)(kind % 3 == 0 ? pair_random() : pair_random() & 1);
  if (kind % 4 == 1 && n > 1)
    memcpy(square + (pair_random() % (unsigned)(n - 1) + 1) * (unsigned)n, square, (size_t)n);
  if (kind % 5 == 2)
    square[0] = 0;
}

static void inverses(void) {
  static byte in[2][100 * 100], out[2][100 * 100];
  unsigned singular = 0;
  for (int n = 1; n <= 100; n = n < 20 ? n + 1 : n * 2 - n / 3)
    for (unsigned kind = 0; kind < 12; kind++) {
      int status[2];
      fill(in[0], n, kind);
      memcpy(in[1], in[0], sizeof in[0]);
      memset(out, 9, sizeof out);
      for (int library = 0; library < LIBRARIES; library++)
        status[library] =
            ((inverse *)pair_function(library, "gf_invert_matrix"))(in[library], out[library], n);
      pair_expect(status[OURS] == status[REAL], "gf_invert_matrix: status", n, kind, 0);
      pair_expect(memcmp(in[0], in[1], sizeof in[0]) == 0, "gf_invert_matrix: in", n, kind, 0);
      pair_expect(memcmp(out[0], out[1], sizeof out[0]) == 0, "gf_invert_matrix: out", n, kind, 0);
      singular += status[REAL] != 0;
    }
  pair_expect(singular > 10, "some matrices are singular", singular, 0, 0);
}

/* A negative size counts as 0: nothing is written. ISA-L writes zeros if both sizes are negative.
 */
static void negative_sizes(void) {
  static const int sizes[] = {-1, -2, -5, INT_MIN};
  byte in[16], out[16], before[16];
  memset(before, 9, sizeof before);
  memcpy(in, before, sizeof in);
  memcpy(out, before, sizeof out);
  for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; n++) {
    int status = ((inverse *)pair_function(OURS, "gf_invert_matrix"))(in, out, sizes[n]);
    bool kept = memcmp(in, before, sizeof in) == 0 && memcmp(out, before, sizeof out) == 0;
    pair_expect(status == 0 && kept, "gf_invert_matrix: negative size", sizes[n], 0, 0);
  }
  ((matrix *)pair_function(OURS, "gf_gen_rs_matrix"))(out, 4, -4);
  ((matrix *)pair_function(OURS, "gf_gen_cauchy1_matrix"))(out, 4, -4);
  pair_expect(memcmp(out, before, sizeof out) == 0, "gf_gen_rs_matrix: negative k", 0, 0, 0);
}

void differ_field(void) {
  negative_sizes();
  elements();
  entries();
  whole_tables();
  generators();
  inverses();
}
