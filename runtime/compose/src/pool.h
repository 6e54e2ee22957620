/* The node's memory for shards on their way: blocks that are used again, within the node's limit.
 * Any thread. */
#ifndef GFC_POOL_H
#define GFC_POOL_H

#include "link.h"

typedef struct gfc_pool gfc_pool;

typedef struct gfc_block {
  uint8_t *bytes; /* at a multiple of 64 */
  size_t size;
  gfc_registration local; /* of all of it, for own sends */
  struct gfc_block *prev, *next;
} gfc_block;

/* `limit`: bytes of all blocks together. NULL: out of memory. */
gfc_pool *gfc_pool_create(gfsmith_node *node, size_t limit);
/* When all blocks have been given back. */
void gfc_pool_destroy(gfc_pool *pool);

/* GFSMITH_ELIMIT, GFSMITH_ENOMEM, or what registering says. Contents are not defined. bytes > 0. */
int gfc_pool_take(gfc_pool *pool, size_t bytes, gfc_block **out);
void gfc_pool_give(gfc_pool *pool, gfc_block *block);

#endif
