/* Recovery of the index after a start of the agent. */
#ifndef STORE_RECOVER_H
#define STORE_RECOVER_H

#include "agent.h"

/* Build the index, once, when enough chunk servers have sent their lists. */
bool recover_try(agent *a);
/* Is the index not yet built? Then the reason. */
bool recover_waits(const agent *a, char reason[AGENT_REASON]);

#endif
