/* The check of a recovery: read the versions that would replace others. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "agent.h"

/* Read the next doubtful entry of the index, unless one is being read. */
void check_next(agent *a);

#endif
