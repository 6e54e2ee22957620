/* Reads of values. */
#ifndef STORE_READ_H
#define STORE_READ_H

#include "agent.h"
#include "index.h"
#include "stripe.h"

/* The caller owns `value`; NULL: not read, with the reason. */
typedef void read_done(void *owner, stripe *value, const char *reason);
/* The reason for a value whose chunks are intact, but belong to another value. */
extern const char read_damaged[];
void read_begin(agent *a, const entry *e, read_done *done, void *owner);

#endif
