/* The items of a chunk server in a memcached. */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include "shelf.h"

/* A memcached, accessed through libmemcached over a Unix socket. Calls block, each at most for the
 * timeout; changes are done at once. */
shelf *memory_create(const char *socket, unsigned timeout_ms, void *owner);

#endif
