/* Recovery of the index after a start of the agent. */
#ifndef STORE_RECOVER_H
#define STORE_RECOVER_H

#include "index.h"

/* Build the index when enough chunk servers have sent their lists. True: it is built, and no entry
 * is doubtful any more. */
bool recover_try(agent *a);
/* An entry that must be read before the index is valid; NULL: none. */
const entry *recover_doubt(const agent *a);
/* It can be read; it cannot, because of its chunks; it has not been read, for another reason. */
void recover_readable(agent *a);
void recover_unreadable(agent *a);
void recover_unchecked(agent *a);
/* Have all chunk servers sent their lists, but too few of them with the memories of the group? */
bool recover_is_hopeless(const agent *a);
/* Forget the lists of a recovery that is not complete. */
void recover_stop(agent *a);
/* A chunk server has exactly the records that the index demands of it. */
void recover_agreed(agent *a, uint16_t rank);
/* A chunk server has left. True: it did not agree with the index yet, which is empty again. */
bool recover_undone(agent *a, uint16_t rank);
/* Are the keys unknown to clients? Then the reason. */
bool recover_waits(const agent *a, char reason[AGENT_REASON]);

#endif
