/* Confirmation of an answer that needs no chunks: a miss, or a condition that is not met. */
#ifndef STORE_CONFIRM_H
#define STORE_CONFIRM_H

#include "agent.h"

/* NULL: confirmed; otherwise the reason. */
typedef void confirm_done(void *owner, const char *reason);

/* Ask m + 1 chunk servers whether this is still their agent. An agent that replaces it needs the
 * lists of k of them, so it has not begun: the index was right until now. */
void confirm_begin(agent *a, confirm_done *done, void *owner);

#endif
