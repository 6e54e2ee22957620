/* Nodes over loopback, all in this process. */
#ifndef NETWORK_H
#define NETWORK_H

#include "scenario.h"

typedef struct network {
  unsigned nodes;
  gfsmith_node *node[64];
  uint16_t port[64];
} network;

/* Creates one node without links. memory 0: the default. */
void network_node(gfsmith_node **node, const char *provider, uint16_t rank, size_t memory);
/* Creates nodes that all have links to each other. */
void network_create(network *network, const char *provider, unsigned nodes, size_t memory);
void network_destroy(network *network);
/* Waits until this link is up, or down, at a node. */
void network_wait(const network *network, unsigned node, unsigned peer, bool up);
/* Sleeps for a millisecond. */
void network_nap(void);

#endif
