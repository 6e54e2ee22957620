/* Recovery of the index after a start of the agent. */
#ifndef STORE_RECOVER_H
#define STORE_RECOVER_H

#include "agent.h"

/* Build the index when enough chunk servers have sent their lists. */
bool recover_try(agent *a);
/* A chunk server has exactly the records that the index demands of it. */
void recover_agreed(agent *a, uint16_t rank);
/* A chunk server has left. True: it did not agree with the index yet, which is empty again. */
bool recover_undone(agent *a, uint16_t rank);
/* Are the keys unknown to clients? Then the reason. */
bool recover_waits(const agent *a, char reason[AGENT_REASON]);

#endif
