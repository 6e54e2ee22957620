/* The registered memory of a node: reusable blocks for shards in transit, within the node's limit,
 * and regions of the caller's memory. Any thread. */
#ifndef GFC_MEMORY_H
#define GFC_MEMORY_H

#include "link.h"

typedef struct gfc_memory gfc_memory;

typedef struct gfc_block {
  uint8_t *bytes; /* at a multiple of 64 */
  size_t size;
  gfc_registration local; /* of the whole block, for local sends */
  struct gfc_block *prev, *next;
} gfc_block;

/* `limit`: bytes of all blocks together. NULL: out of memory. */
gfc_memory *gfc_memory_create(gfc_engine *engine, size_t limit);
/* After all blocks have been given back. NULL is allowed. */
void gfc_memory_destroy(gfc_memory *memory);

/* Take a block of `bytes` > 0; its contents are undefined. GFSMITH_ELIMIT, GFSMITH_ENOMEM, or the
 * status of the registration. */
int gfc_block_take(gfc_memory *memory, size_t bytes, gfc_block **out);
void gfc_block_give(gfc_memory *memory, gfc_block *block);

/* Register a part of the caller's memory, for gfsmith_region_create. */
int gfc_region_add(gfc_memory *all, void *memory, size_t bytes, gfsmith_region **out);
void gfc_region_remove(gfsmith_region *region);
/* Is this part of the caller's memory within a region? Then get the descriptor for sends. */
bool gfc_region_find(gfc_memory *all, const uint8_t *bytes, size_t length, void **descriptor);

#endif
