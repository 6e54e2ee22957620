/* What libmemcached cannot ask of memcached: may it evict items, which keys has it
 * (`lru_crawler metadump hash`; libmemcached's dump stops at 2 MB a slab class). */
#ifndef STORE_WIRE_H
#define STORE_WIRE_H

#include <stdbool.h>
#include <stddef.h>

/* A connection whose calls take at most this long; -1: errno. */
int wire_connect(const char *path, unsigned timeout_ms);
/* False: memcached did not answer as it should, here and below. */
bool wire_evicts(int fd, bool *evicts);
/* Call `found` for each key, as memcached has it. */
bool wire_keys(int fd, void (*found)(void *owner, const char *key, size_t length), void *owner);

#endif
