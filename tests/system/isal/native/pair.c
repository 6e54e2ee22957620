/* pair.c: see pair.h. Usage: differential OURS REAL */
#define _GNU_SOURCE
#include "pair.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ROOM = 3 * PAGE, SLOT = ROOM + PAGE, JUNK = 0xa5 };

static void *libraries[LIBRARIES];
static byte *memory[LIBRARIES]; /* MOST slots, with an inaccessible page before and after each */
static byte *vectors[LIBRARIES][MOST];
static long checks;

uint32_t pair_random(void) {
  static uint64_t state = 20261122;
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 33);
}

long pair_checks(void) { return checks; }

void pair_expect(bool condition, const char *what, long a, long b, long c) {
  checks++;
  if (condition)
    return;
  printf("differs: %s (%ld, %ld, %ld)\n", what, a, b, c);
  exit(1);
}

function *pair_function(int library, const char *name) {
  union {
    void *object;
    function *call;
  } found = {.object = dlsym(libraries[library], name)};
  if (found.object == NULL) {
    fprintf(stderr, "no %s in the %s library\n", name, library == OURS ? "first" : "second");
    exit(2);
  }
  return found.call;
}

void pair_matrices(byte c, byte *entry) {
  byte (*multiply)(byte, byte) = (byte(*)(byte, byte))pair_function(REAL, "gf_mul");
  memset(entry, 0, 32);
  for (unsigned bit = 0; bit < 8; bit++) {
    byte column = multiply(c, (byte)(1u << bit));
    for (unsigned n = 0; n < 32; n++)
      entry[n] |= (byte)((column >> (7 - n % 8) & 1) << bit);
  }
}

bool pair_has_matrices(void) {
  const char *isa = getenv("GFSMITH_ISA");
  return isa != NULL && (strcmp(isa, "gfni_avx512") == 0 || strcmp(isa, "gfni_avx2") == 0);
}

static byte *slots(void) {
  byte *all = mmap(NULL, (size_t)MOST * SLOT + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED)
    exit(2);
  for (size_t n = 0; n < MOST; n++)
    if (mprotect(all + PAGE + n * SLOT, ROOM, PROT_READ | PROT_WRITE) != 0)
      exit(2);
  return all + PAGE;
}

void pair_load(const char *ours, const char *real) {
  const char *paths[] = {ours, real};
  for (int n = 0; n < LIBRARIES; n++) {
    /* RTLD_DEEPBIND: each library finds its own functions first, since both have the same names. */
    libraries[n] = dlopen(paths[n], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (libraries[n] == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      exit(2);
    }
    memory[n] = slots();
  }
  pair_expect(libraries[OURS] != libraries[REAL], "two libraries", 0, 0, 0);
}

static byte *start(place where, byte *room, size_t length) {
  switch (where) {
  case AT_END:
    return room + ROOM - length;
  case AT_BEGINNING:
    return room;
  default:
    return room + PAGE;
  }
}

void pair_vectors(unsigned count, size_t length, place where) {
  for (unsigned n = 0; n < count; n++) {
    for (int library = 0; library < LIBRARIES; library++) {
      byte *room = memory[library] + (size_t)n * SLOT;
      vectors[library][n] = start(library == OURS ? where : ALIGNED, room, length);
      memset(room, JUNK, ROOM);
    }
    for (size_t at = 0; at < length; at++)
      vectors[OURS][n][at] = vectors[REAL][n][at] = (byte)pair_random();
  }
}

byte **pair_of(int library) { return vectors[library]; }

static bool untouched(const byte *from, const byte *to) {
  for (; from < to; from++)
    if (*from != JUNK)
      return false;
  return true;
}

void pair_compare(const char *what, unsigned count, size_t length) {
  for (unsigned n = 0; n < count; n++) {
    const byte *room = memory[OURS] + (size_t)n * SLOT, *vector = vectors[OURS][n];
    bool same = memcmp(vector, vectors[REAL][n], length) == 0;
    pair_expect(same, what, (long)count, (long)length, n);
    pair_expect(untouched(room, vector) && untouched(vector + length, room + ROOM),
                "bytes around a vector", (long)count, (long)length, n);
  }
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: differential OURS REAL\n");
    return 2;
  }
  pair_load(arguments[1], arguments[2]);
  differ_field();
  differ_encode();
  differ_raid();
  differ_crc();
  printf("%ld checks\n", pair_checks());
  return 0;
}
