/* The command `stats`. */
#ifndef STORE_STATS_H
#define STORE_STATS_H

#include "client.h"

void stats_answer(client *c);

#endif
