/* The list of a chunk server, sent in parts at the agent's requests: first the versions of all
 * chunks, 8 bytes each, then all records, each after its length in 2 bytes. */
#ifndef STORE_LISTING_H
#define STORE_LISTING_H

#include "server.h"

/* Answer MESSAGE_LIST with the first part, when all earlier changes are done. */
void listing_begin(void *owner, const kept_ticket *ticket, kept_status status);
void listing_go_on(server *s, uint64_t request);

#endif
