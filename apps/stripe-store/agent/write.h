/* Writes and removals of values. */
#ifndef STORE_WRITE_H
#define STORE_WRITE_H

#include "agent.h"
#include "index.h"
#include "stripe.h"

/* NULL: success. Otherwise the reason for the failure. */
typedef void write_done(void *owner, const char *reason);
/* Must be called under the lock of the key. Takes over the value. */
void write_begin(agent *a, const record *r, stripe *value, write_done *done, void *owner);
void remove_begin(agent *a, const entry *e, write_done *done, void *owner);

#endif
