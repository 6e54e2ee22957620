/* flush_all: every chunk server deletes all values and becomes a new, empty one. The command is
 * over when the agent has admitted all of them. */
#ifndef STORE_FLUSH_H
#define STORE_FLUSH_H

#include "agent.h"

/* NULL: success. Otherwise the reason for the failure. */
typedef void flush_done(void *owner, const char *reason);
/* Delete all values. */
void flush_begin(agent *a, flush_done *done, void *owner);
void flush_tick(agent *a);

#endif
