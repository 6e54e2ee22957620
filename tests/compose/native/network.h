/* Nodes over loopback, all in this process. */
#ifndef NETWORK_H
#define NETWORK_H

#include "scenario.h"

typedef struct network {
  unsigned nodes;
  gfsmith_node *node[64];
} network;

/* Nodes that all have links to each other. */
void network_create(network *network, const char *provider, unsigned nodes, size_t memory);
void network_destroy(network *network);
/* Wait until this link is up, or down, at a node. */
void network_wait(const network *network, unsigned node, unsigned peer, bool up);

#endif
