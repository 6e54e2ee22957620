/* A network of its own for a store: the agent and each chunk server are in a network namespace of
 * their own, joined by a bridge, as machines by a switch.
 *
 * The namespaces have no name and nothing of them is in the one that this process is in: the kernel
 * removes them, with bridge and cables, when the last process in them and this one have ended,
 * however they end. So there is nothing to clean up, and two stores cannot meet. */
#ifndef STORE_NETWORK_H
#define STORE_NETWORK_H

#include "common/layout.h"

#define NETWORK_AGENT "10.0.0.100"

enum { NETWORK_ADDRESS = 16 };

typedef struct network {
  /* by rank, -1: not made. The agent's has the bridge `switch`, with a cable `nodeRANK` to the
   * interface `node` of each chunk server */
  int space[LAYOUT_SHARDS_MAX + 1];
} network;

/* False, with a message: not permitted, no program `ip`, or what that says. */
bool network_make(network *n, unsigned nodes);
void network_close(network *n);
/* Of a chunk server. */
void network_address(unsigned rank, char text[NETWORK_ADDRESS]);

#endif
