/* A model of memcached's text protocol, for the fuzz target `client`: the commands of a client, and
 * the exact answers. */
#ifndef FUZZ_CLIENT_MODEL_H
#define FUZZ_CLIENT_MODEL_H

#include "input.h"

enum { MODEL_KEYS = 3, MODEL_VALUE_MAX = 2000, MODEL_TEXT = 1 << 18 };

/* Bytes of a dialogue. */
typedef struct text {
  char bytes[MODEL_TEXT];
  size_t length;
} text;

typedef struct model_item {
  bool exists, expired;
  unsigned flags;
  uint64_t version;
  size_t length;
  char bytes[MODEL_VALUE_MAX];
} model_item;

typedef struct model {
  model_item items[MODEL_KEYS];
  uint64_t version; /* of the last write */
  text sent, expected;
} model;

/* Append a command that the input selects to `sent`, and its answer to `expected`. */
void model_command(model *m, input *in);

#endif
