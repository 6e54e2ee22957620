/* The items that a chunk server keeps, in a memcached (memory.c) or in a folder (disk.c):
 *
 *   node                 group, incarnation, rank, epoch and start, as text with a checksum
 *   c<version, 16 hex>   a chunk: 64 bytes of header, then its bytes
 *   r<version, 16 hex>   a record of a value (record.h)
 *
 * The incarnation is a random number, drawn when there are no items yet, so a memcached that lost
 * its memory gets another one. A change calls back when it is done: a memcached has it then, or it
 * is on disk. Changes take effect in their order. After KEPT_GONE the items are closed. */
#ifndef STORE_KEPT_H
#define STORE_KEPT_H

#include "item.h"
#include "shelf.h"

enum { KEPT_ID = 16 };

typedef shelf kept;

typedef struct identity {
  uint8_t group[KEPT_ID]; /* zeros: no group yet */
  uint8_t incarnation[KEPT_ID];
  unsigned rank;
  uint32_t epoch; /* of the agent that was accepted last; 0: none */
  uint64_t start; /* number of that agent's start, which a copy of its folder does not have */
} identity;

void kept_destroy(kept *k);
/* Open unless open. KEPT_GONE: not yet; KEPT_DAMAGED: not with this memcached or folder. */
kept_status kept_connect(kept *k);
bool kept_connected(const kept *k);
/* Call back for the changes that are not done, then close. */
void kept_disconnect(kept *k);
/* A descriptor that becomes readable when kept_turn must be called. -1: none. */
int kept_watch(const kept *k);
/* Call back for changes that are done. */
kept_status kept_turn(kept *k);
/* The description of the last error (a result other than KEPT_OK). */
const char *kept_reason(const kept *k);

kept_status kept_get_identity(kept *k, identity *who);
void kept_put_identity(kept *k, const identity *who, kept_ticket ticket);

/* `item` begins with ITEM_HEADER bytes for the header, then the chunk; it must remain until the
 * call back. `exists`: the value does (shelf.h). */
void kept_put_chunk(kept *k, uint64_t version, unsigned shard, uint8_t *item, size_t length,
                    bool exists, kept_ticket ticket);
/* The caller frees *item; the chunk begins at ITEM_HEADER. */
kept_status kept_get_chunk(kept *k, uint64_t version, unsigned shard, uint8_t **item,
                           size_t length);
void kept_put_record(kept *k, uint64_t version, const uint8_t *bytes, size_t length, bool exists,
                     kept_ticket ticket);
/* `bytes` has RECORD_MAX bytes. */
kept_status kept_get_record(kept *k, uint64_t version, uint8_t *bytes, size_t *length);
/* Done also if it was not stored. */
void kept_forget_record(kept *k, uint64_t version, kept_ticket ticket);
/* Record and chunk. */
void kept_forget(kept *k, uint64_t version, kept_ticket ticket);
/* Delete all items but the identity, which is `who` from then on. */
void kept_wipe(kept *k, const identity *who, kept_ticket ticket);
/* Call back when all earlier changes are done. */
void kept_settle(kept *k, kept_ticket ticket);

/* Add some items to a list, which is empty at first, until it is complete. After an error it is
 * empty. */
kept_status kept_list_more(kept *k, kept_list *list);

#endif
