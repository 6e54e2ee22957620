/* What a chunk server keeps in its memcached, through libmemcached over a Unix socket:
 *
 *   node                 group, incarnation and rank, as text
 *   c<version, 16 hex>   a chunk: 64 bytes of header, then its bytes
 *   r<version, 16 hex>   a record of a value (record.h)
 *
 * An incarnation is drawn when a memcached is found empty, so one that lost its memory has another.
 * Calls block, each for at most the timeout. After KEPT_GONE the connection is closed. */
#ifndef STORE_KEPT_H
#define STORE_KEPT_H

#include "common/record.h"

enum { KEPT_HEADER = 64, KEPT_ID = 16 };

typedef enum kept_status {
  KEPT_OK = 0,
  KEPT_MISSING,   /* it is not there */
  KEPT_DAMAGED,   /* it is there and its checksum is wrong */
  KEPT_FULL,      /* memcached has no memory left */
  KEPT_TOO_LARGE, /* larger than memcached's largest item */
  KEPT_GONE       /* memcached does not answer */
} kept_status;

typedef struct kept kept;

typedef struct identity {
  uint8_t group[KEPT_ID]; /* zeros: of none yet */
  uint8_t incarnation[KEPT_ID];
  unsigned rank;
} identity;

/* Nothing is connected yet. */
kept *kept_create(const char *socket, unsigned timeout_ms);
void kept_destroy(kept *k);
/* Connect, if it is not; KEPT_DAMAGED: this memcached may evict items, see kept_reason. */
kept_status kept_connect(kept *k);
bool kept_connected(const kept *k);
void kept_disconnect(kept *k);
/* A connection of its own over which nothing is sent: readable when memcached is gone. -1: none. */
int kept_watch(const kept *k);
/* In words, of the last call that was not KEPT_OK. */
const char *kept_reason(const kept *k);

kept_status kept_get_identity(kept *k, identity *who);
kept_status kept_put_identity(kept *k, const identity *who);

/* `item` has KEPT_HEADER bytes to write to, then the chunk. */
kept_status kept_put_chunk(kept *k, uint64_t version, unsigned shard, uint8_t *item, size_t length);
/* *item is to be freed; the chunk is at KEPT_HEADER. */
kept_status kept_get_chunk(kept *k, uint64_t version, unsigned shard, uint8_t **item,
                           size_t length);
kept_status kept_put_record(kept *k, uint64_t version, const uint8_t *bytes, size_t length);
/* `bytes` has RECORD_MAX. */
kept_status kept_get_record(kept *k, uint64_t version, uint8_t *bytes, size_t *length);
kept_status kept_forget_record(kept *k, uint64_t version); /* KEPT_OK also if it was not there */
kept_status kept_forget_chunk(kept *k, uint64_t version);
kept_status kept_wipe(kept *k);

/* All versions of which there is a chunk, and of which there is a record; in no order. */
typedef struct kept_list {
  uint64_t *chunk, *record;
  size_t chunks, records;
} kept_list;
kept_status kept_list_all(kept *k, kept_list *list);
void kept_list_free(kept_list *list);

#endif
