#include "operations.h"

#include <stdlib.h>

int gfc_operations_create(gfc_operations **out, gfsmith_node *node,
                          const gfsmith_node_options *options) {
  gfc_operations *all = calloc(1, sizeof *all);
  *out = NULL;
  if (all == NULL)
    return GFSMITH_ENOMEM;
  if (pthread_mutex_init(&all->lock, NULL) != 0) {
    free(all);
    return GFSMITH_ENOMEM;
  }
  all->node = node;
  all->kernels = gfc_kernels_create();
  all->pool = gfc_pool_create(node, options->memory);
  if (all->kernels == NULL || all->pool == NULL) {
    gfc_operations_destroy(all);
    return GFSMITH_ENOMEM;
  }
  *out = all;
  return GFSMITH_OK;
}

void gfc_operations_stop(void *operations) {
  gfc_operations *all = operations;
  gfsmith_operation *operation, *next;
  all->stopping = true;
  DL_FOREACH_SAFE(all->list, operation, next) {
    gfc_fail(operation, NULL, GFSMITH_ECANCELED, -1, "the node is being destroyed");
    gfc_settle(operation);
  }
}

void gfc_operations_destroy(gfc_operations *all) {
  if (all == NULL)
    return;
  gfc_early_free(all);
  gfc_triggers_free(all);
  gfc_pool_destroy(all->pool);
  gfc_kernels_destroy(all->kernels);
  pthread_mutex_destroy(&all->lock);
  free(all->slot);
  free(all->unused);
  free(all);
}

gfc_end *gfc_find_end(gfc_operations *all, const gfc_key *key) {
  gfc_end *end;
  HASH_FIND(hh, all->ends, key, sizeof *key, end);
  return end;
}

/* ---- slots: a write names them in 16 bits ---- */

enum { SLOTS_MAX = 1 << 16, SLOTS_FIRST = 64 };

static int more_slots(gfc_operations *all) {
  size_t slots = all->slots == 0 ? SLOTS_FIRST : 2 * all->slots;
  if (slots > SLOTS_MAX)
    return GFSMITH_ELIMIT;
  gfc_end **slot = realloc(all->slot, slots * sizeof *slot);
  if (slot == NULL)
    return GFSMITH_ENOMEM;
  all->slot = slot;
  uint16_t *unused = realloc(all->unused, slots * sizeof *unused);
  if (unused == NULL)
    return GFSMITH_ENOMEM;
  all->unused = unused;
  for (size_t n = slots; n > all->slots; n--) {
    slot[n - 1] = NULL;
    unused[all->unused_count++] = (uint16_t)(n - 1);
  }
  all->slots = slots;
  return GFSMITH_OK;
}

int gfc_slot_take(gfc_operations *all, gfc_end *end, uint16_t *slot) {
  int status = all->unused_count > 0 ? GFSMITH_OK : more_slots(all);
  if (status != GFSMITH_OK)
    return status;
  *slot = all->unused[--all->unused_count];
  all->slot[*slot] = end;
  return GFSMITH_OK;
}

void gfc_slot_give(gfc_operations *all, uint16_t slot) {
  all->slot[slot] = NULL;
  all->unused[all->unused_count++] = slot;
}
