/* All operations of a node: their creation and end, and the events of the links. */
#ifndef GFC_OPERATIONS_H
#define GFC_OPERATIONS_H

#include "link.h"

typedef struct gfc_operations gfc_operations;

/* The functions that the transport calls; the gfc_operations are the `observer`. */
extern const gfc_link_events gfc_operations_events;

/* Before the engine's thread runs. GFSMITH_ENOMEM */
int gfc_operations_create(gfc_operations **out, gfc_engine *engine,
                          const gfsmith_node_options *options);
/* After the engine's thread has ended, and before the engine is destroyed. NULL is allowed. */
void gfc_operations_destroy(gfc_operations *operations);

#endif
