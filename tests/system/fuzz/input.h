/* input.h: the fuzzer's bytes, read one after the other as numbers; zeros after the end. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct input {
  const uint8_t *at;
  size_t left;
} input;

/* Takes a little-endian number of `bytes` bytes, at most 8. */
static inline uint64_t take(input *in, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes && in->left > 0; i++, in->left--)
    value |= (uint64_t)*in->at++ << (8 * i);
  return value;
}

/* Takes a number below `limit`, at most 65536. */
static inline unsigned take_below(input *in, unsigned limit) {
  return (unsigned)take(in, limit > 256 ? 2 : 1) % limit;
}

/* Fills memory with input. */
static inline void take_bytes(input *in, uint8_t *to, size_t size) {
  size_t given = in->left < size ? in->left : size;
  if (given > 0)
    memcpy(to, in->at, given);
  memset(to + given, 0, size - given);
  in->at += given;
  in->left -= given;
}

/* Returns true if the target must have the planted error. */
static inline bool planted(void) { return getenv("GFSMITH_FUZZ_TEETH") != NULL; }

/* A condition that must hold. The fuzzer keeps the input if it does not. */
#define REQUIRE(condition)                                                                         \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);               \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
