/* The connections of a chunk server: to its memcached and to the agent. */
#ifndef STORE_CONNECTION_H
#define STORE_CONNECTION_H

#include "server.h"

/* Try to connect to the memcached and to the agent, if either is not connected. */
void connection_tick(server *s);
void connection_link(server *s, uint16_t rank, bool up);
/* Send the agent the identity of the memcached. */
void connection_greet(server *s);

#endif
