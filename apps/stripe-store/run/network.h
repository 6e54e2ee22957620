/* A separate network for a store: the agent and each chunk server have their own network
 * namespaces, joined by a bridge, like machines by a switch.
 *
 * The namespaces have no names, and none of their interfaces is in the namespace of this process:
 * the kernel removes them, with bridge and cables, when their last process and this one have ended,
 * even after a crash. So there is nothing to clean up, and two stores cannot interfere. */
#ifndef STORE_NETWORK_H
#define STORE_NETWORK_H

#include "common/layout.h"

#define NETWORK_AGENT "10.0.0.100"

enum { NETWORK_ADDRESS = 20 };

typedef struct network {
  /* by rank, -1: not created. The agent's has the bridge `switch`, with a cable `nodeRANK` to the
   * interface `node` of each chunk server */
  int space[LAYOUT_SHARDS_MAX + 1];
} network;

/* False, with a message: not permitted, the program `ip` is missing, or it failed. */
bool network_make(network *n, unsigned nodes);
void network_close(network *n);
/* The address of the node at a place: 0 is the agent's, of a store with one stripe. */
void network_address(unsigned rank, char text[NETWORK_ADDRESS]);

#endif
