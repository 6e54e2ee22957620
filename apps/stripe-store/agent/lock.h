/* Locks of keys: one writer of a key at a time, in the order of requests. */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include "agent.h"

typedef void lock_granted(void *owner);
/* `granted` is called at once or later. False: no memory. */
bool lock_take(agent *a, const char *key, size_t bytes, lock_granted *granted, void *owner);
void lock_release(agent *a, const char *key, size_t bytes);
void locks_free(agent *a);

#endif
