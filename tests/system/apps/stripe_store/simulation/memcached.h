/* The memcached of each chunk server, instead of libmemcached and chunk/wire.c. */
#ifndef SIMULATION_MEMCACHED_H
#define SIMULATION_MEMCACHED_H

#include "process.h"

void memcached_start(unsigned rank);
/* Its memory is lost. */
void memcached_kill(unsigned rank);
bool memcached_runs(unsigned rank);
/* Has one been started that does not run? */
bool memcached_down(void);
void memcached_pause(unsigned rank, bool paused);
/* It refuses to store. */
void memcached_fill(unsigned rank, bool full);
/* Remember its content; have the content again that was remembered last. False: there is none. */
void memcached_remember(unsigned rank);
bool memcached_restore(unsigned rank);
/* Change a byte of a stored chunk. False: it has none. */
bool memcached_damage(unsigned rank);
/* Damage the chunks of one value on `count` of them. False: there is none on so many. */
bool memcached_damage_value(unsigned count);
/* Values with fewer intact chunks may be unreadable. `beyond`: more chunks of a value are damaged
 * than the code bears. */
void memcached_begin(unsigned enough, bool beyond);
/* They list a few keys at a time. */
void memcached_list_slowly(void);
/* Has a value of the key lost so many chunks to faults that it may be lost? Its record is stored,
 * or was deleted late: by an order of a deletion that had failed, to a memcached that was paused.
 */
bool memcached_excuses(const char *key);
/* A write or deletion of the key was acknowledged: records that were deleted late do not count. */
void memcached_acknowledged(const char *key);
/* The incarnation in hexadecimal digits; NULL: none. */
const char *memcached_incarnation(unsigned rank);

#endif
