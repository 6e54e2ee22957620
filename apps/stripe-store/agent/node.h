/* The state of a chunk server. */
#ifndef STORE_NODE_H
#define STORE_NODE_H

#include "agent.h"

void node_set_state(node *n, node_state state);
void node_forget_lists(node *n);
/* Can its chunks be read? */
bool node_serves(const node *n);
const char *node_words(const agent *a, uint16_t rank);
/* Are all chunk servers up and complete? Otherwise the reason. */
bool nodes_up(const agent *a, char reason[AGENT_REASON]);
/* Are they, and is no flush_all begun, so that writes are accepted? Otherwise the reason. */
bool nodes_writable(const agent *a, char reason[AGENT_REASON]);

#endif
