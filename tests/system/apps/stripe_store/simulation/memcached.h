/* The memcached of each chunk server, instead of libmemcached and chunk/wire.c. */
#ifndef SIMULATION_MEMCACHED_H
#define SIMULATION_MEMCACHED_H

#include "process.h"

void memcached_start(unsigned rank);
/* Its memory is lost. */
void memcached_kill(unsigned rank);
bool memcached_runs(unsigned rank);
void memcached_pause(unsigned rank, bool paused);
/* It refuses to store. */
void memcached_fill(unsigned rank, bool full);
/* Change a byte of a stored chunk. False: it has none. */
bool memcached_damage(unsigned rank);
/* The incarnation in hexadecimal digits; NULL: none. */
const char *memcached_incarnation(unsigned rank);

#endif
