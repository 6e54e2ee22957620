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

/* memcached keeps each page of its memory for items of about one size, also when they are deleted.
 * Make so many pages free for items of any size, from sizes of which so many items are free that
 * none is evicted. False: there is none, or it has taken too long. */
bool wire_make_room(const char *path, size_t pages, unsigned timeout_ms);
/* Raise memcached's limit, so that it takes so many further pages. False: the same. */
bool wire_add_room(const char *path, size_t pages, unsigned timeout_ms);
/* Free the memory of all flushed items. False: the same. */
bool wire_reclaim(const char *path, unsigned timeout_ms);

/* The list of all keys. */
typedef struct wire_keys wire_keys;

/* Connect, and request the list; times are limited as those of wire_connect. NULL: failed. */
wire_keys *wire_keys_open(const char *path, unsigned timeout_ms);
/* Call `found` for some further keys, in memcached's encoding. *end: these were the last. */
bool wire_keys_next(wire_keys *k, void (*found)(void *owner, const char *key, size_t length),
                    void *owner, bool *end);
void wire_keys_close(wire_keys *k);

#endif
