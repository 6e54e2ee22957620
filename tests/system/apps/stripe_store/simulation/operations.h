/* The primitives of gfsmith_compose.h over simulated links: shards are sent as a whole. */
#ifndef SIMULATION_OPERATIONS_H
#define SIMULATION_OPERATIONS_H

#include "network.h"

void operations_link_up(gfsmith_node *node, uint16_t rank);
void operations_link_down(gfsmith_node *node, uint16_t rank);
/* A grant, data, or the end of a transfer. */
void operations_frame(gfsmith_node *node, uint16_t rank, const frame *f);

#endif
