/* encode.c: encoding, updates and products over lengths, places, shapes and both libraries' tables.
 *
 * Below 64 bytes, where ISA-L's vector functions do nothing, its _base functions give the expected
 * result. */
#include <stdio.h>
#include <string.h>

#include "pair.h"

typedef void encode(int, int, int, byte *, byte **, byte **);
typedef void update(int, int, int, int, byte *, byte *, byte **);
typedef void dot(int, int, byte *, byte **, byte *);
typedef void dots(int, int, byte *, byte **, byte **);
typedef void mad(int, int, int, byte *, byte *, byte *);
typedef void mads(int, int, int, byte *, byte *, byte **);
typedef int mul(int, byte *, void *, void *);
typedef void tables(int, int, byte *, byte *);
typedef void matrix(byte *, int, int);

static const int LENGTHS[] = {-1, 0,  1,   7,   15,  16,  31,   32,   63,
                              64, 65, 127, 128, 200, 300, 1000, 4096, 8191};
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS, MATRIX = 255 * 20, WIDEST = 300 };

static byte coefficients[(WIDEST + 20) * WIDEST];

/* Tables: those of the libraries, and always in the form of ISA-L 2.31 and later with GFNI. */
enum { MATRICES = LIBRARIES, TABLES };
static byte made[TABLES][32 * MATRIX];

/* Matrices of `rows` parities: of the two codes (known matrices) and with another last or middle
 * element, random, with zeros at the beginnings of rows, and all ones. */
enum { RS, RS_BUT_ONE, CAUCHY, CAUCHY_BUT_ONE, RANDOM, ZEROS, ONES, KINDS };

static void fill_matrix(int k, int rows, unsigned kind) {
  byte *parity = coefficients + k * k;
  if (kind <= CAUCHY_BUT_ONE)
    ((matrix *)pair_function(REAL, kind <= RS_BUT_ONE ? "gf_gen_rs_matrix"
                                                      : "gf_gen_cauchy1_matrix"))(coefficients,
                                                                                  k + rows, k);
  if (kind == RS_BUT_ONE)
    parity[k * rows - 1] ^= 1;
  if (kind == CAUCHY_BUT_ONE)
    parity[k * rows / 2] ^= 1;
  for (int n = 0; kind >= RANDOM && n < k * rows; n++)
    parity[n] = kind == ONES ? 1 : (byte)pair_random();
  for (int n = 0; kind == ZEROS && n < k * rows; n++)
    parity[n] = n % k < n / k ? 0 : parity[n]; /* row i begins with i zeros */
  for (int library = 0; library < LIBRARIES; library++)
    ((tables *)pair_function(library, "ec_init_tables"))(k, rows, parity, made[library]);
  for (int n = 0; n < k * rows; n++)
    pair_matrices(parity[n], made[MATRICES] + 32 * n);
}

/* Returns the name of the function with correct results in the real library at this length. */
static const char *reference(const char *name, int len) {
  static char base[64];
  snprintf(base, sizeof base, "%s_base", name);
  return len < 64 ? base : name;
}

static size_t bytes(int len) { return len > 0 ? (size_t)len : 0; }

static void encode_once(const char *name, int len, int k, int rows, place where, int table) {
  unsigned all = (unsigned)(k + rows);
  pair_vectors(all, bytes(len), where);
  byte **ours = pair_of(OURS), **real = pair_of(REAL);
  ((encode *)pair_function(OURS, name))(len, k, rows, made[table], ours, ours + k);
  ((encode *)pair_function(REAL, reference("ec_encode_data", len)))(len, k, rows, made[REAL], real,
                                                                    real + k);
  pair_compare(name, all, bytes(len));
}

static void update_once(const char *name, int len, int k, int rows, place where, int j) {
  pair_vectors((unsigned)rows + 1, bytes(len), where);
  byte **ours = pair_of(OURS), **real = pair_of(REAL);
  ((update *)pair_function(OURS, name))(len, k, rows, j, made[j % TABLES], ours[rows], ours);
  ((update *)pair_function(REAL, reference("ec_encode_data_update", len)))(
      len, k, rows, j, made[REAL], real[rows], real);
  pair_compare(name, (unsigned)rows + 1, bytes(len));
}

static void shapes(void) {
  static const int list[][2] = {{1, 1},  {2, 1},  {4, 2},  {6, 3},    {8, 4},   {10, 4},
                                {10, 6}, {10, 8}, {12, 4}, {9, 7},    {17, 3},  {5, 9},
                                {3, 20}, {28, 4}, {70, 8}, {100, 20}, {255, 1}, {255, 20}};
  for (unsigned s = 0; s < sizeof list / sizeof *list; s++)
    for (unsigned kind = 0; kind < KINDS; kind++) {
      int k = list[s][0], rows = list[s][1];
      bool large = k * rows > 400;
      fill_matrix(k, rows, kind);
      for (unsigned n = kind; n < LENGTH_COUNT; n += large ? 5 : 1) {
        place where = (place)((n + kind) % PLACES);
        int len = large && LENGTHS[n] > 1000 ? 515 : LENGTHS[n];
        encode_once("ec_encode_data", len, k, rows, where, (int)(n % TABLES));
        update_once("ec_encode_data_update", len, k, rows, where, (int)n * 7 % k);
        if (len > 200 || large)
          continue;
        encode_once("ec_encode_data_base", len, k, rows, where, REAL);
        update_once("ec_encode_data_update_base", len, k, rows, where, (int)n * 5 % k);
      }
    }
}

/* No source, and more sources than a codec has. */
static void unusual(void) {
  static const int sources[] = {256, WIDEST};
  for (int rows = 1; rows <= 3; rows++)
    encode_once("ec_encode_data", 63, 0, rows, AT_END, REAL);
  for (unsigned n = 0; n < sizeof sources / sizeof *sources; n++)
    for (int rows = 1; rows <= 3; rows++) {
      fill_matrix(sources[n], rows, RANDOM);
      encode_once("ec_encode_data", 200, sources[n], rows, AT_END, REAL);
      update_once("ec_encode_data_update", 200, sources[n], rows, AT_END, sources[n] - 1);
    }
}

/* Calls the function for each row separately, with the row's part of the tables, and for one source
 * at a time. */
static void rows_alone(const char *which, int len, place where, int table) {
  enum { K = 9, ROWS = 6 };
  char name[64];
  fill_matrix(K, ROWS, RANDOM);
  pair_vectors(K + ROWS, bytes(len), where);
  byte **ours = pair_of(OURS), **real = pair_of(REAL);
  snprintf(name, sizeof name, "gf_vect_dot_prod%s", which);
  for (int i = 0; i < ROWS; i++) {
    ((dot *)pair_function(OURS, name))(len, K, made[table] + 32 * K * i, ours, ours[K + i]);
    ((dot *)pair_function(REAL, "gf_vect_dot_prod_base"))(len, K, made[REAL] + 32 * K * i, real,
                                                          real[K + i]);
  }
  pair_compare(name, K + ROWS, bytes(len));
  snprintf(name, sizeof name, "gf_vect_mad%s", which);
  for (int i = 0; i < ROWS; i++) {
    ((mad *)pair_function(OURS, name))(len, K, i, made[table] + 32 * K * i, ours[2], ours[K + i]);
    ((mad *)pair_function(REAL, "gf_vect_mad_base"))(len, K, i, made[REAL] + 32 * K * i, real[2],
                                                     real[K + i]);
  }
  pair_compare(name, K + ROWS, bytes(len));
}

/* Compares the functions whose names contain a set and a number of outputs with the real ones. */
static void named(const char *set, int outputs, int len, place where, int table) {
  enum { K = 7 };
  char name[64];
  fill_matrix(K, outputs, RANDOM);
  pair_vectors((unsigned)(K + outputs), bytes(len), where);
  byte **ours = pair_of(OURS), **real = pair_of(REAL);
  snprintf(name, sizeof name, "gf_%dvect_dot_prod_%s", outputs, set);
  ((dots *)pair_function(OURS, name))(len, K, made[table], ours, ours + K);
  ((dots *)pair_function(REAL, name))(len, K, made[REAL], real, real + K);
  pair_compare(name, (unsigned)(K + outputs), bytes(len));
  snprintf(name, sizeof name, "gf_%dvect_mad_%s", outputs, set);
  ((mads *)pair_function(OURS, name))(len, K, 3, made[table], ours[3], ours + K);
  ((mads *)pair_function(REAL, name))(len, K, 3, made[REAL], real[3], real + K);
  pair_compare(name, (unsigned)(K + outputs), bytes(len));
}

static void multiply(const char *name, int len, place where, bool in_place) {
  byte entry[32], products[32];
  unsigned c = pair_random() & 255;
  int fails = len % 32 != 0;
  ((void (*)(byte, byte *))pair_function(REAL, "gf_vect_mul_init"))((byte)c, products);
  memcpy(entry, products, sizeof entry);
  if (in_place) /* the other form */
    pair_matrices((byte)c, entry);
  pair_vectors(2, bytes(len), where);
  byte **ours = pair_of(OURS), **real = pair_of(REAL);
  int status = ((mul *)pair_function(OURS, name))(len, entry, ours[0], ours[in_place ? 0 : 1]);
  pair_expect((status != 0) == fails, name, len, status, (long)c);
  if (!fails) /* 2.30 accepts any length in steps of 32 bytes; 2.32 rejects it, as ours does */
    ((mul *)pair_function(REAL, "gf_vect_mul_base"))(len, products, real[0],
                                                     real[in_place ? 0 : 1]);
  pair_compare(name, 2, bytes(len));
}

/* Outputs equal to sources, which ISA-L handles correctly if it processes whole vectors in one
 * pass. */
static void in_place(int k, int rows, int len) {
  fill_matrix(k, rows, RANDOM);
  pair_vectors((unsigned)k, bytes(len), AT_END);
  byte **ours = pair_of(OURS), **real = pair_of(REAL);
  ((encode *)pair_function(OURS, "ec_encode_data"))(len, k, rows, made[OURS], ours, ours);
  ((encode *)pair_function(REAL, "ec_encode_data"))(len, k, rows, made[REAL], real, real);
  pair_compare("ec_encode_data in place", (unsigned)k, bytes(len));
}

/* Without rows, both read nothing: the sources do not exist. */
static void no_rows(void) {
  byte *sources[4] = {0};
  for (int from = OURS; from < LIBRARIES; from++)
    ((encode *)pair_function(from, "ec_encode_data"))(1 << 20, 4, 0, made[from], sources, sources);
}

void differ_encode(void) {
  static const char *const sets[] = {"sse", "avx", "avx2"};
  static const char *const dotted[] = {"", "_base", "_sse", "_avx", "_avx2"};
  static const char *const products[] = {"gf_vect_mul", "gf_vect_mul_base", "gf_vect_mul_sse",
                                         "gf_vect_mul_avx"};
  shapes();
  unusual();
  for (unsigned n = 0; n < LENGTH_COUNT; n++) {
    int len = LENGTHS[n];
    place where = (place)(n % PLACES);
    for (unsigned d = 0; d < 5; d++)
      rows_alone(dotted[d], len, where, (int)(n % TABLES));
    for (unsigned m = 0; m < 4; m++)
      for (int same = 0; same < 2; same++)
        multiply(products[m], len, where, same);
    for (unsigned s = 0; s < 3 && len >= 64; s++)
      for (int outputs = 2; outputs <= 6; outputs++)
        named(sets[s], outputs, len, where, outputs % TABLES);
    for (unsigned s = 0; s < 3 && len >= 64; s++) {
      char name[64];
      fill_matrix(11, 5, CAUCHY);
      snprintf(name, sizeof name, "ec_encode_data_%s", sets[s]);
      encode_once(name, len, 11, 5, where, REAL);
      snprintf(name, sizeof name, "ec_encode_data_update_%s", sets[s]);
      update_once(name, len, 11, 5, where, 4);
    }
  }
  for (int rows = 1; rows <= 6; rows++)
    in_place(10, rows, 4096);
  no_rows();
}
