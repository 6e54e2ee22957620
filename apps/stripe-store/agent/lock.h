/* Locks of keys: one writer of a key at a time, in the order of requests. */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include "agent.h"

typedef void lock_granted(void *owner);
/* `granted` is called at once or later. False: no memory. */
bool lock_take(agent *a, const char *key, size_t bytes, lock_granted *granted, void *owner);
/* The same for a lock that is held, before the others that wait for it. False: no memory. */
bool lock_take_next(agent *a, const char *key, size_t bytes, lock_granted *granted, void *owner);
/* The holder deletes the value of the key: until the lock is released, no client may be told that
 * there is none. */
void lock_hide(agent *a, const char *key, size_t bytes);
bool lock_hides(const agent *a, const char *key, size_t bytes);
void lock_release(agent *a, const char *key, size_t bytes);
void locks_free(agent *a);

#endif
