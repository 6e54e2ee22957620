/* Chunks and records as they are kept. */
#ifndef STORE_ITEM_H
#define STORE_ITEM_H

#include "common/record.h"

enum { ITEM_HEADER = 64, ITEM_SHARD = 24 /* where the number of the shard is */ };

/* Write the header of a chunk, which follows it. */
void item_head(uint8_t *item, uint64_t version, unsigned shard, size_t length);
/* Is this the chunk of a version, unchanged? */
bool item_chunk(const uint8_t *item, size_t bytes, uint64_t version);
/* The same for a record. */
bool item_record(const uint8_t *item, size_t bytes, uint64_t version);

#endif
