/* All operations of a node: found by what peers say of them. */
#ifndef GFC_OPERATIONS_H
#define GFC_OPERATIONS_H

#include "node.h"
#include "operation.h"

/* What a peer said of a transfer before it was posted here. */
typedef struct gfc_early {
  UT_hash_handle hh;
  gfc_key key; /* of the end here that it is meant for */
  union {
    gfc_grant grant;
    gfc_refusal refusal;
  };
} gfc_early;

/* A part of memory that was registered. */
struct gfsmith_region {
  gfsmith_node *node;
  const uint8_t *memory;
  size_t bytes;
  gfc_registration registration;
  gfsmith_region *prev, *next;
};

struct gfc_operations {
  gfsmith_node *node;
  unsigned deadline_ms;
  gfc_kernels *kernels;
  gfc_pool *pool;

  pthread_mutex_t lock; /* of regions */
  gfsmith_region *regions;

  /* The engine's. */
  bool stopping;
  gfsmith_operation *list;
  gfc_end *ends;     /* of running operations, by key */
  gfc_early *grants; /* in the order in which they came */
  gfc_early *refusals;
  uint32_t granted[GFSMITH_RANKS_MAX]; /* of `grants`, by peer */
  gfc_early *unsaid;                   /* own refusals, by the end here, that wait for a link */
  uint16_t armed[GFSMITH_RANKS_MAX];   /* writes that may wait for a counter, by peer */
  gfc_end **slot;                      /* slots, by number */
  uint16_t *unused;                    /* numbers of those that are not */
  size_t slots, unused_count;
  gfc_counter *counters, *retired; /* to be used again, and not */
};

gfc_end *gfc_find_end(gfc_operations *all, const gfc_key *key);

/* A number for a receiving end. GFSMITH_ELIMIT, GFSMITH_ENOMEM. */
int gfc_slot_take(gfc_operations *all, gfc_end *end, uint16_t *slot);
void gfc_slot_give(gfc_operations *all, uint16_t slot);

/* early.c. What came early for an end that is now there; false: nothing did. It is forgotten by
 * that. */
bool gfc_early_grant(gfc_operations *all, const gfc_key *key, gfc_grant *grant);
bool gfc_early_refusal(gfc_operations *all, const gfc_key *key, gfc_refusal *refusal);
/* Remember. GFSMITH_ELIMIT, GFSMITH_ENOMEM; a refusal that finds no room takes that of the oldest.
 */
int gfc_early_keep_grant(gfc_operations *all, const gfc_key *key, const gfc_grant *grant);
void gfc_early_keep_refusal(gfc_operations *all, const gfc_key *key, const gfc_refusal *refusal);
/* Tell a peer that this end of ours has been refused, now or when there is a link. */
void gfc_refuse(gfc_operations *all, const gfc_key *key, const gfc_refusal *refusal);
/* There is one. */
void gfc_early_up(gfc_operations *all, uint16_t rank);
/* The link is down: its grants are void. */
void gfc_early_down(gfc_operations *all, uint16_t rank);
void gfc_early_free(gfc_operations *all);

/* Cancel all, and whatever is posted from now on. */
void gfc_operations_stop(void *operations);

#endif
