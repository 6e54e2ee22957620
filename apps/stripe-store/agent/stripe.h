/* The memory of a value: its k chunks, contiguous. */
#ifndef STORE_STRIPE_H
#define STORE_STRIPE_H

#include "agent.h"

typedef struct stripe {
  agent *agent;
  unsigned users; /* freed when the last user releases it */
  uint8_t *bytes;
  size_t length, chunk, room;
  size_t charged; /* bytes of `room` that count against the agent's memory limit */
} stripe;

/* Is there memory for so many bytes more in transit? If not, slow clients are closed. */
bool stripe_fits(agent *a, size_t bytes);
/* Bytes of a value's chunk, at least 1. */
size_t stripe_chunk(const agent *a, uint64_t length);
/* NULL: the agent's memory limit is exceeded, or the system has no memory. */
stripe *stripe_new(agent *a, uint64_t length);
/* The same for a value that arrives in parts: nothing counts yet. NULL: the system has no memory.
 */
stripe *stripe_expect(agent *a, uint64_t length);
/* The first `length` bytes count. False: the limit would be exceeded. */
bool stripe_charge(stripe *s, size_t length);
void stripe_free(stripe *s);

#endif
