/* The memory of a value: its k chunks, contiguous. */
#ifndef STORE_STRIPE_H
#define STORE_STRIPE_H

#include "agent.h"

typedef struct stripe {
  agent *agent;
  unsigned users; /* freed when the last user releases it */
  uint8_t *bytes;
  size_t length, chunk, room;
} stripe;

/* Bytes of a value's chunk, at least 1. */
size_t stripe_chunk(const agent *a, uint64_t length);
/* NULL: the agent's memory limit is exceeded. */
stripe *stripe_new(agent *a, uint64_t length);
void stripe_free(stripe *s);

#endif
