/* crc.c: cyclic redundancy checks of every length up to 300 and of some longer ones, from random
 * states, at every place. */
#include <stdio.h>
#include <string.h>

#include "pair.h"

enum { EVERY = 300 };

static const int LONGER[] = {511, 512, 513, 1023, 1024, 1025, 1500, 4096, 8191, 8192};
static const uint64_t STATES[] = {0, UINT64_MAX};

typedef uint16_t crc16(uint16_t, const byte *, uint64_t);
typedef uint32_t crc32(uint32_t, const byte *, uint64_t);
typedef uint64_t crc64(uint64_t, const byte *, uint64_t);
typedef unsigned iscsi(byte *, int, unsigned);
typedef uint16_t copy(uint16_t, byte *, byte *, uint64_t);

/* One check: every function of ISA-L has one of these forms. The copy goes to vector 1. */
typedef enum form { CRC16, CRC32, CRC64, ISCSI, COPY } form;

static uint64_t call(form form, int library, const char *name, uint64_t state, int len) {
  function *f = pair_function(library, name);
  byte *data = pair_of(library)[0];
  switch (form) {
  case CRC16:
    return ((crc16 *)f)((uint16_t)state, data, (uint64_t)len);
  case CRC32:
    return ((crc32 *)f)((uint32_t)state, data, (uint64_t)len);
  case CRC64:
    return ((crc64 *)f)(state, data, (uint64_t)len);
  case ISCSI:
    return ((iscsi *)f)(data, len, (unsigned)state);
  case COPY:
    return ((copy *)f)((uint16_t)state, pair_of(library)[1], data, (uint64_t)len);
  }
  return 0;
}

static void compare(form form, const char *name, int len, unsigned turn) {
  uint64_t state = turn < 2 ? STATES[turn] : (uint64_t)pair_random() << 32 ^ pair_random();
  pair_vectors(form == COPY ? 2 : 1, (size_t)len, (place)(turn % PLACES));
  uint64_t ours = call(form, OURS, name, state, len);
  pair_expect(ours == call(form, REAL, name, state, len), name, len, turn, (long)ours);
  pair_compare(name, form == COPY ? 2 : 1, (size_t)len);
}

static void lengths(form form, const char *name) {
  for (int len = 0; len <= EVERY; len++)
    for (unsigned turn = 0; turn < 2 * PLACES; turn++)
      compare(form, name, len, turn);
  for (unsigned n = 0; n < sizeof LONGER / sizeof *LONGER; n++)
    for (unsigned turn = 0; turn < 2 * PLACES; turn++)
      compare(form, name, LONGER[n], turn);
}

/* Sources and destinations at every distance from a multiple of 64. */
static void alignments(form form, const char *name) {
  for (unsigned shift = 0; shift < 64; shift++) {
    pair_vectors(2, 2048, ALIGNED);
    byte **ours = pair_of(OURS), *kept[] = {ours[0], ours[1]};
    ours[0] += shift;
    ours[1] += 63 - shift;
    memcpy(ours[0], pair_of(REAL)[0], 1500);
    uint64_t state = pair_random(), got = call(form, OURS, name, state, 1500);
    pair_expect(got == call(form, REAL, name, state, 1500), name, 1500, shift, (long)got);
    if (form == COPY)
      pair_expect(memcmp(ours[1], ours[0], 1500) == 0, name, 1500, shift, -1);
    ours[0] = kept[0];
    ours[1] = kept[1];
  }
}

static void family(form form, const char *name, const char *const *endings) {
  char full[40];
  for (; *endings != NULL; endings++) {
    snprintf(full, sizeof full, "%s%s", name, *endings);
    lengths(form, full);
    alignments(form, full);
  }
}

/* A negative length counts as 0; ISA-L returns the state as well, without a definition. */
static void no_bytes(const char *name) {
  iscsi *ours = (iscsi *)pair_function(OURS, name);
  static const int negative[] = {-1, -64, INT32_MIN};
  for (unsigned n = 0; n < sizeof negative / sizeof *negative; n++)
    pair_expect(ours(NULL, negative[n], 12345) == 12345, name, negative[n], 0, 0);
}

void differ_crc(void) {
  static const char *const two[] = {"", "_base", NULL}, *const three[] = {"", "_base", "_by8",
                                                                          NULL};
  static const char *const wide[] = {"ecma", "iso", "jones"}; /* 2.30 has no rocksoft */
  family(CRC16, "crc16_t10dif", two);
  family(COPY, "crc16_t10dif_copy", two);
  family(CRC32, "crc32_ieee", two);
  family(CRC32, "crc32_gzip_refl", two);
  family(ISCSI, "crc32_iscsi", two);
  no_bytes("crc32_iscsi");
  no_bytes("crc32_iscsi_base");
  for (unsigned n = 0; n < sizeof wide / sizeof *wide; n++)
    for (unsigned norm = 0; norm < 2; norm++) {
      char name[32];
      snprintf(name, sizeof name, "crc64_%s_%s", wide[n], norm ? "norm" : "refl");
      family(CRC64, name, three);
    }
}
