/* calls.c: checksums of short pieces, by the library and by ISA-L, timed alternately.
 *
 * usage: calls CHECK BYTES CONTINUED TURNS TRIALS
 *
 * CHECK: a number of gfsmith_checksum. CONTINUED: 1 if a call has the state of the call before it.
 * Prints one line per trial: nanoseconds per call of the library and of ISA-L. Each trial starts
 * with the other one.
 */
#define _GNU_SOURCE
#include <isa-l/crc.h>
#include <isa-l/crc64.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "gfsmith_checksum.h"

enum { CONTENDERS = 2 };

static gfsmith_checksum kind;
static uint8_t *data;
static size_t len;
static volatile uint64_t result;

static uint64_t library(uint64_t state) {
  gfsmith_checksum_update(kind, &state, len, data);
  return state;
}

static uint64_t crc32c(uint64_t state) { return ~crc32_iscsi(data, (int)len, ~(unsigned)state); }

static uint64_t crc32(uint64_t state) { return crc32_gzip_refl((uint32_t)state, data, len); }

static uint64_t crc64_ecma(uint64_t state) { return crc64_ecma_refl(state, data, len); }

static uint64_t crc64_iso(uint64_t state) { return crc64_iso_refl(state, data, len); }

static uint64_t crc16_t10(uint64_t state) { return crc16_t10dif((uint16_t)state, data, len); }

/* The functions of ISA-L 2.30 by check. */
static uint64_t (*const peers[])(uint64_t) = {
    [GFSMITH_CRC32C] = crc32c,         [GFSMITH_CRC32] = crc32,
    [GFSMITH_CRC64_ECMA] = crc64_ecma, [GFSMITH_CRC64_ISO] = crc64_iso,
    [GFSMITH_CRC16_T10] = crc16_t10,
};

/* The nanoseconds of a call. Only the first loop makes a call wait for the one before it. */
static double timed(uint64_t (*call)(uint64_t), bool continued, int turns) {
  uint64_t state = 0;
  double start = now();
  if (continued)
    for (int turn = 0; turn < turns; turn++)
      state = call(state);
  else
    for (int turn = 0; turn < turns; turn++)
      state ^= call(0);
  result = state;
  return (now() - start) / turns;
}

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  size_t number = (size_t)atol(argv[1]);
  if (number >= sizeof peers / sizeof *peers || peers[number] == NULL)
    return 2;
  kind = (gfsmith_checksum)number;
  len = (size_t)atol(argv[2]);
  bool continued = atoi(argv[3]) != 0;
  int turns = atoi(argv[4]), trials = atoi(argv[5]);
  data = aligned_alloc(64, (len + 63) / 64 * 64);
  if (data == NULL)
    return 2;
  for (size_t n = 0; n < len; n++)
    data[n] = (uint8_t)(n * 167 + 13);
  uint64_t (*const contender[CONTENDERS])(uint64_t) = {library, peers[number]};
  if (library(0) != peers[number](0)) {
    fprintf(stderr, "the checksums differ\n");
    return 1;
  }
  for (int trial = 0; trial < trials; trial++) {
    double ns[CONTENDERS];
    for (int n = 0; n < CONTENDERS; n++) {
      int who = (trial + n) % CONTENDERS;
      ns[who] = timed(contender[who], continued, turns);
    }
    printf("%.2f %.2f\n", ns[0], ns[1]);
  }
  free(data);
  return 0;
}
