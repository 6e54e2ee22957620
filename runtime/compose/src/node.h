/* A node: its engine and its operations. */
#ifndef GFC_NODE_H
#define GFC_NODE_H

#include "gfsmith_compose.h"

struct gfsmith_node {
  struct gfc_engine *engine;
  struct gfc_operations *operations;
  uint16_t rank;
};

#ifdef GFSMITH_COMPOSE_FAULTS
/* Inject a fault (faults.h) into the message or write that is sent after `after` others. Any
 * thread.
 */
GFSMITH_API int gfsmith_node_fault(gfsmith_node *node, int fault, unsigned after);
/* Query a peer that was silent for `ask` milliseconds, and drop it after `silent`; for links that
 * come up later. */
GFSMITH_API int gfsmith_node_patience(gfsmith_node *node, unsigned ask, unsigned silent);
#endif

#endif
