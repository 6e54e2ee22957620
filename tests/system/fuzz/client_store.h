/* A store for the fuzz target `client`: it completes requests at a call of store_complete, or fails
 * them. */
#ifndef FUZZ_CLIENT_STORE_H
#define FUZZ_CLIENT_STORE_H

#include "agent/agent.h"

/* The number of requests that have begun and are not complete. */
unsigned store_waiting(void);
/* Complete the n-th of them, with success or with a failure. */
void store_complete(unsigned n, bool success);
/* Forget all values. No request may be waiting. */
void store_clear(agent *a);

#endif
