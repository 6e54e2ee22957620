/* Queries to memcached that libmemcached does not support: whether it may evict items, and its keys
 * (`lru_crawler metadump hash`; libmemcached's dump stops at 2 MB per slab class). */
#ifndef STORE_WIRE_H
#define STORE_WIRE_H

#include <stdbool.h>
#include <stddef.h>

/* Connect; calls on the connection take at most this long. -1: errno. */
int wire_connect(const char *path, unsigned timeout_ms);
/* False, here and below: memcached did not answer correctly. */
bool wire_evicts(int fd, bool *evicts);
/* Call `found` for each key, in memcached's encoding. */
bool wire_keys(int fd, void (*found)(void *owner, const char *key, size_t length), void *owner);

#endif
