/* The data that a chunk server keeps in its memcached, accessed through libmemcached over a Unix
 * socket:
 *
 *   node                 group, incarnation and rank, as text
 *   c<version, 16 hex>   a chunk: 64 bytes of header, then its bytes
 *   r<version, 16 hex>   a record of a value (record.h)
 *
 * The incarnation is a random number, drawn when a memcached is empty, so a memcached that lost its
 * memory gets another one. Calls block, each at most for the timeout. After KEPT_GONE the
 * connection is closed. */
#ifndef STORE_KEPT_H
#define STORE_KEPT_H

#include "common/record.h"

enum { KEPT_HEADER = 64, KEPT_ID = 16 };

typedef enum kept_status {
  KEPT_OK = 0,
  KEPT_MISSING,   /* not stored */
  KEPT_DAMAGED,   /* stored with a wrong checksum */
  KEPT_FULL,      /* memcached has no memory left */
  KEPT_TOO_LARGE, /* larger than memcached's largest item */
  KEPT_GONE       /* memcached does not answer */
} kept_status;

typedef struct kept kept;

typedef struct identity {
  uint8_t group[KEPT_ID]; /* zeros: no group yet */
  uint8_t incarnation[KEPT_ID];
  unsigned rank;
  uint32_t epoch; /* of the agent that was accepted last; 0: none */
  uint64_t start; /* number of that agent's start, which a copy of its folder does not have */
} identity;

/* Create an object without a connection. */
kept *kept_create(const char *socket, unsigned timeout_ms);
void kept_destroy(kept *k);
/* Connect unless connected. KEPT_DAMAGED: this memcached may evict items, see kept_reason. */
kept_status kept_connect(kept *k);
bool kept_connected(const kept *k);
void kept_disconnect(kept *k);
/* A separate connection without traffic, which becomes readable when memcached goes down. -1:
 * none. */
int kept_watch(const kept *k);
/* The description of the last error (a result other than KEPT_OK). */
const char *kept_reason(const kept *k);

kept_status kept_get_identity(kept *k, identity *who);
kept_status kept_put_identity(kept *k, const identity *who);

/* `item` begins with KEPT_HEADER bytes for the header, then the chunk. */
kept_status kept_put_chunk(kept *k, uint64_t version, unsigned shard, uint8_t *item, size_t length);
/* The caller frees *item; the chunk begins at KEPT_HEADER. */
kept_status kept_get_chunk(kept *k, uint64_t version, unsigned shard, uint8_t **item,
                           size_t length);
kept_status kept_put_record(kept *k, uint64_t version, const uint8_t *bytes, size_t length);
/* `bytes` has RECORD_MAX bytes. */
kept_status kept_get_record(kept *k, uint64_t version, uint8_t *bytes, size_t *length);
kept_status kept_forget_record(kept *k, uint64_t version); /* KEPT_OK also if it was not stored */
kept_status kept_forget_chunk(kept *k, uint64_t version);
kept_status kept_wipe(kept *k);

/* The versions of all stored chunks and of all stored records, unordered. */
typedef struct kept_list {
  uint64_t *chunk, *record;
  size_t chunks, records;
  bool incomplete; /* there was no memory for a version */
} kept_list;
kept_status kept_list_all(kept *k, kept_list *list);
void kept_list_free(kept_list *list);

#endif
