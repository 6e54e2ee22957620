/* The list of a chunk server, sent in parts at the agent's requests: first the versions of all
 * chunks, 8 bytes each, then all records, each after its length in 2 bytes. */
#ifndef STORE_LISTING_H
#define STORE_LISTING_H

#include "server.h"

/* Handle MESSAGE_LIST. */
void listing_answer(server *s, const message *m);

#endif
