#include "memory.h"

#include <pthread.h>
#include <stdlib.h>

#include <utlist.h>

/* Released blocks are kept, with registration and pages, for later operations: in the order of
 * release, at most a quarter of the limit. */
struct gfc_memory {
  pthread_mutex_t lock;
  gfc_engine *engine;
  size_t limit, used, kept; /* bytes of blocks */
  gfc_block *list;          /* the kept blocks */
  gfsmith_region *regions;
};

struct gfsmith_region {
  gfc_memory *all;
  const uint8_t *memory;
  size_t bytes;
  gfc_registration registration;
  gfsmith_region *prev, *next;
};

enum { ALIGN = 64 };

/* ---- blocks ---- */

gfc_memory *gfc_memory_create(gfc_engine *engine, size_t limit) {
  gfc_memory *memory = calloc(1, sizeof *memory);
  if (memory == NULL)
    return NULL;
  memory->engine = engine;
  memory->limit = limit;
  if (pthread_mutex_init(&memory->lock, NULL) == 0)
    return memory;
  free(memory);
  return NULL;
}

static void destroy(gfc_block *block) {
  gfc_unregister(&block->local);
  free(block->bytes);
  free(block);
}

/* Drop kept blocks, the oldest first, until `kept` bytes are left. */
static void drop(gfc_memory *memory, size_t kept) {
  while (memory->list != NULL && memory->kept > kept) {
    gfc_block *oldest = memory->list;
    DL_DELETE(memory->list, oldest);
    memory->kept -= oldest->size;
    destroy(oldest);
  }
}

void gfc_memory_destroy(gfc_memory *memory) {
  if (memory == NULL)
    return;
  drop(memory, 0);
  pthread_mutex_destroy(&memory->lock);
  free(memory);
}

/* Sizes are rounded up by an eighth at most, so that kept blocks often fit. */
static size_t round_up(size_t bytes) {
  size_t step = ALIGN;
  while (step < bytes / 16)
    step *= 2;
  return bytes > SIZE_MAX - step ? 0 : (bytes + step - 1) / step * step;
}

static gfc_block *find(gfc_memory *memory, size_t size) {
  gfc_block *block;
  DL_FOREACH(memory->list, block) {
    if (block->size == size) {
      DL_DELETE(memory->list, block);
      memory->kept -= size;
      return block;
    }
  }
  return NULL;
}

static int make(gfc_memory *memory, size_t size, gfc_block **out) {
  gfc_block *block = calloc(1, sizeof *block);
  if (block == NULL)
    return GFSMITH_ENOMEM;
  block->size = size;
  block->bytes = aligned_alloc(ALIGN, size);
  int status = block->bytes == NULL ? GFSMITH_ENOMEM
                                    : gfc_register(memory->engine, block->bytes, size, GFC_SOURCE,
                                                   NULL, &block->local);
  if (status != GFSMITH_OK) {
    free(block->bytes);
    free(block);
    return status;
  }
  *out = block;
  return GFSMITH_OK;
}

int gfc_block_take(gfc_memory *memory, size_t bytes, gfc_block **out) {
  size_t size = round_up(bytes);
  *out = NULL;
  pthread_mutex_lock(&memory->lock);
  bool room = size != 0 && size <= memory->limit - memory->used;
  if (room) {
    memory->used += size;
    *out = find(memory, size);
    if (*out == NULL && memory->kept > memory->limit - memory->used)
      drop(memory, memory->limit - memory->used);
  }
  pthread_mutex_unlock(&memory->lock);
  if (!room)
    return GFSMITH_ELIMIT;
  if (*out != NULL)
    return GFSMITH_OK;
  int status = make(memory, size, out);
  if (status != GFSMITH_OK) {
    pthread_mutex_lock(&memory->lock);
    memory->used -= size;
    pthread_mutex_unlock(&memory->lock);
  }
  return status;
}

void gfc_block_give(gfc_memory *memory, gfc_block *block) {
  pthread_mutex_lock(&memory->lock);
  memory->used -= block->size;
  memory->kept += block->size;
  DL_APPEND(memory->list, block);
  drop(memory, memory->limit / 4);
  pthread_mutex_unlock(&memory->lock);
}

/* ---- regions ---- */

int gfc_region_add(gfc_memory *all, void *memory, size_t bytes, gfsmith_region **out) {
  gfsmith_region *region = calloc(1, sizeof *region);
  if (region == NULL)
    return GFSMITH_ENOMEM;
  region->all = all;
  region->memory = memory;
  region->bytes = bytes;
  int status = gfc_register(all->engine, memory, bytes, GFC_SOURCE, NULL, &region->registration);
  if (status != GFSMITH_OK) {
    free(region);
    return status;
  }
  pthread_mutex_lock(&all->lock);
  DL_APPEND(all->regions, region);
  pthread_mutex_unlock(&all->lock);
  *out = region;
  return GFSMITH_OK;
}

void gfc_region_remove(gfsmith_region *region) {
  gfc_memory *all = region->all;
  pthread_mutex_lock(&all->lock);
  DL_DELETE(all->regions, region);
  pthread_mutex_unlock(&all->lock);
  gfc_unregister(&region->registration);
  free(region);
}

bool gfc_region_find(gfc_memory *all, const uint8_t *bytes, size_t length, void **descriptor) {
  gfsmith_region *region;
  bool found = false;
  pthread_mutex_lock(&all->lock);
  for (region = all->regions; region != NULL && !found; region = region->next) {
    uintptr_t from = (uintptr_t)bytes - (uintptr_t)region->memory;
    found = from <= region->bytes && length <= region->bytes - from;
    if (found)
      *descriptor = region->registration.descriptor;
  }
  pthread_mutex_unlock(&all->lock);
  return found;
}
