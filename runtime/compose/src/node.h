/* What a node is made of. */
#ifndef GFC_NODE_H
#define GFC_NODE_H

#include "link.h"

/* What is posted at a node, and its layer's state: operations.c. */
typedef struct gfc_operations gfc_operations;

struct gfsmith_node {
  gfc_engine *engine;
  gfc_operations *operations;
  uint16_t rank;
  unsigned deadline_ms;
  size_t memory;
  bool triggers; /* asked for, and the provider has them */
};

/* The layer above links. Its functions in gfc_operations_upper get the gfc_operations as `upper`.
 */
extern const gfc_upper gfc_operations_upper;
/* Before the engine runs: node->engine is there, but its thread is not. */
int gfc_operations_create(gfc_operations **out, gfsmith_node *node,
                          const gfsmith_node_options *options);
/* After the engine's thread has ended, and before the engine is destroyed. NULL is allowed. */
void gfc_operations_destroy(gfc_operations *operations);

#endif
