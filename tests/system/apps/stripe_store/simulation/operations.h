/* The primitives of gfsmith_compose.h over simulated links: shards are sent as a whole. */
#ifndef SIMULATION_OPERATIONS_H
#define SIMULATION_OPERATIONS_H

#include "network.h"

extern const network_events operations_events;

#endif
