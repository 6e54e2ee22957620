/* Synchronization of a chunk server that is back: it deletes chunks and records that are in no
 * value of the index, then gets the missing ones; chunks are rebuilt through a graph whose sink it
 * is. Writes are refused meanwhile, so the index does not change. */
#ifndef STORE_SYNC_H
#define STORE_SYNC_H

#include "agent.h"

/* Begin, or, for lack of memory, at a later tick. */
void sync_begin(node *n);
void sync_abandon(node *n);
void sync_tick(agent *a);
/* The chunk server lacks chunks or records that it had, by the index. If it is being synchronized,
 * that is done once more. */
void sync_heal(node *n);
/* A chunk that should be stored is missing: it will be rebuilt. */
void sync_missing(agent *a, uint16_t rank, uint64_t version);

#endif
