/* raid.c: parities and their checks; a check must detect any changed byte. */
#include <stdio.h>
#include <string.h>

#include "pair.h"

typedef int raid(int, int, void **);

static const int LENGTHS[] = {0, 1, 8, 15, 16, 31, 32, 63, 64, 65, 100, 128, 256, 1000, 4096, 8190};
static const int VECTORS[] = {0, 1, 2, 3, 4, 5, 6, 9, 17, 100, 256, 257, 258, 300};

static int call(int library, const char *name, int vects, int len) {
  return ((raid *)pair_function(library, name))(vects, len, (void **)pair_of(library));
}

/* 2.30's _base functions do not check the number of vectors; 2.32's do, as the others do. */
static const char *reference(const char *base, int vects) {
  if (vects >= 4)
    return base;
  static char name[32];
  snprintf(name, sizeof name, "%.*s", (int)(strlen(base) - strlen("_base")), base);
  return name;
}

/* ISA-L computes P and Q only of whole words, and XOR at any length: the reference works on whole
 * vectors, whose last bytes are equal for both since all of them are computed. */
static void generate(const char *name, const char *base, int vects, int len, place where) {
  unsigned all = (unsigned)vects;
  pair_vectors(all, (size_t)len, where);
  int up = (len + 15) / 16 * 16;
  int status = call(OURS, name, vects, len);
  pair_expect(status == call(REAL, reference(base, vects), vects, up), name, vects, len, status);
  pair_compare(name, all, (size_t)len);
}

/* After `generate`: both accept the vectors, then reject them with one changed byte. */
static void check(const char *name, const char *base, int vects, int len) {
  int status = call(OURS, name, vects, len);
  pair_expect((status != 0) == (call(REAL, reference(base, vects), vects, len) != 0), name, vects,
              len, status);
  if (len == 0 || vects < 2)
    return;
  unsigned at = pair_random() % (unsigned)len, vector = pair_random() % (unsigned)vects;
  byte change = (byte)(1u << (pair_random() & 7));
  pair_of(OURS)[vector][at] ^= change;
  pair_of(REAL)[vector][at] ^= change;
  status = call(OURS, name, vects, len);
  int due = call(REAL, reference(base, vects), vects, len);
  bool where = strcmp(name, "pq_check_base") == 0 && vects >= 4; /* the result is the position */
  pair_expect(where ? status == due : (status != 0) == (due != 0), name, vects, len, status);
  pair_expect(status != 0, name, vects, len, at);
  pair_of(OURS)[vector][at] ^= change;
  pair_of(REAL)[vector][at] ^= change;
}

static void family(const char *operation, const char *const *gens, const char *const *checks,
                   int vects, int len, place where) {
  char gen[32], base[32], look[32], look_base[32];
  snprintf(base, sizeof base, "%s_gen_base", operation);
  snprintf(look_base, sizeof look_base, "%s_check_base", operation);
  for (; *gens != NULL; gens++) {
    snprintf(gen, sizeof gen, "%s_gen%s", operation, *gens);
    generate(gen, base, vects, len, where);
  }
  for (; *checks != NULL; checks++) {
    snprintf(look, sizeof look, "%s_check%s", operation, *checks);
    check(look, look_base, vects, len);
  }
}

void differ_raid(void) {
  static const char *const xor_gens[] = {"", "_base", "_sse", "_avx", NULL};
  static const char *const pq_gens[] = {"", "_base", "_sse", "_avx", "_avx2", NULL};
  static const char *const checks[] = {"", "_base", "_sse", NULL};
  for (unsigned v = 0; v < sizeof VECTORS / sizeof *VECTORS; v++)
    for (unsigned n = 0; n < sizeof LENGTHS / sizeof *LENGTHS; n += VECTORS[v] > 20 ? 5 : 1) {
      place where = (place)((v + n) % PLACES);
      family("xor", xor_gens, checks, VECTORS[v], LENGTHS[n], where);
      family("pq", pq_gens, checks, VECTORS[v], LENGTHS[n], where);
    }
}
