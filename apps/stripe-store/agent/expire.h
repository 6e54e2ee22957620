/* The removal of expired values, so that chunk servers have room for others. */
#ifndef STORE_EXPIRE_H
#define STORE_EXPIRE_H

#include "agent.h"

/* Look at some values, and remove those that have expired. */
void expire_tick(agent *a);

#endif
