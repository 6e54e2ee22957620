#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

#include <utlist.h>

#include "node.h"

/* A block that was given back is kept, registered and with its pages, for the next operation: in
 * the order in which they came, a quarter of the limit at most. */
struct gfc_pool {
  pthread_mutex_t lock;
  gfsmith_node *node;
  size_t limit, used, kept;
  gfc_block *list;
};

enum { ALIGN = 64 };

gfc_pool *gfc_pool_create(gfsmith_node *node, size_t limit) {
  gfc_pool *pool = calloc(1, sizeof *pool);
  if (pool == NULL)
    return NULL;
  pool->node = node;
  pool->limit = limit;
  if (pthread_mutex_init(&pool->lock, NULL) == 0)
    return pool;
  free(pool);
  return NULL;
}

static void destroy(gfc_block *block) {
  gfc_unregister(&block->local);
  free(block->bytes);
  free(block);
}

/* Drop kept blocks, the oldest first, until `kept` bytes are left. */
static void drop(gfc_pool *pool, size_t kept) {
  while (pool->list != NULL && pool->kept > kept) {
    gfc_block *oldest = pool->list;
    DL_DELETE(pool->list, oldest);
    pool->kept -= oldest->size;
    destroy(oldest);
  }
}

void gfc_pool_destroy(gfc_pool *pool) {
  if (pool == NULL)
    return;
  drop(pool, 0);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

/* Sizes are rounded up by an eighth at most, so that kept blocks fit often. */
static size_t round_up(size_t bytes) {
  size_t step = ALIGN;
  while (step < bytes / 16)
    step *= 2;
  return bytes > SIZE_MAX - step ? 0 : (bytes + step - 1) / step * step;
}

static gfc_block *find(gfc_pool *pool, size_t size) {
  gfc_block *block;
  DL_FOREACH(pool->list, block) {
    if (block->size == size) {
      DL_DELETE(pool->list, block);
      pool->kept -= size;
      return block;
    }
  }
  return NULL;
}

static int make(gfc_pool *pool, size_t size, gfc_block **out) {
  gfc_block *block = calloc(1, sizeof *block);
  if (block == NULL)
    return GFSMITH_ENOMEM;
  block->size = size;
  block->bytes = aligned_alloc(ALIGN, size);
  int status = block->bytes == NULL ? GFSMITH_ENOMEM
                                    : gfc_register(pool->node->engine, block->bytes, size,
                                                   GFC_SOURCE, NULL, &block->local);
  if (status != GFSMITH_OK) {
    free(block->bytes);
    free(block);
    return status;
  }
  *out = block;
  return GFSMITH_OK;
}

int gfc_pool_take(gfc_pool *pool, size_t bytes, gfc_block **out) {
  size_t size = round_up(bytes);
  *out = NULL;
  pthread_mutex_lock(&pool->lock);
  bool room = size != 0 && size <= pool->limit - pool->used;
  if (room) {
    pool->used += size;
    *out = find(pool, size);
    if (*out == NULL && pool->kept > pool->limit - pool->used)
      drop(pool, pool->limit - pool->used);
  }
  pthread_mutex_unlock(&pool->lock);
  if (!room)
    return GFSMITH_ELIMIT;
  if (*out != NULL)
    return GFSMITH_OK;
  int status = make(pool, size, out);
  if (status != GFSMITH_OK) {
    pthread_mutex_lock(&pool->lock);
    pool->used -= size;
    pthread_mutex_unlock(&pool->lock);
  }
  return status;
}

void gfc_pool_give(gfc_pool *pool, gfc_block *block) {
  pthread_mutex_lock(&pool->lock);
  pool->used -= block->size;
  pool->kept += block->size;
  DL_APPEND(pool->list, block);
  drop(pool, pool->limit / 4);
  pthread_mutex_unlock(&pool->lock);
}
