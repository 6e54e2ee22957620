#include "operations.h"

#include <stdlib.h>

/* Grants of one peer that wait for an operation here: as many as one job can have. Refusals of all
 * peers. */
enum { GRANTS_MAX = GFSMITH_EDGES_MAX, REFUSALS_MAX = 4096 };

static gfc_early *find(gfc_early *list, const gfc_key *key) {
  gfc_early *early;
  HASH_FIND(hh, list, key, sizeof *key, early);
  return early;
}

/* NULL: out of memory, or one with this key is there. */
static gfc_early *add(gfc_early **list, const gfc_key *key) {
  gfc_early *early = calloc(1, sizeof *early);
  if (early == NULL)
    return NULL;
  early->key = *key;
  HASH_ADD(hh, *list, key, sizeof early->key, early);
  if (early->hh.tbl != NULL)
    return early;
  free(early);
  return NULL;
}

static void forget_grant(gfc_operations *all, gfc_early *early) {
  all->granted[early->key.rank]--;
  HASH_DEL(all->grants, early);
  free(early);
}

static void forget_refusal(gfc_early **list, gfc_early *early) {
  HASH_DEL(*list, early);
  free(early);
}

bool gfc_early_grant(gfc_operations *all, const gfc_key *key, gfc_grant *grant) {
  gfc_early *early = find(all->grants, key);
  if (early == NULL)
    return false;
  *grant = early->grant;
  forget_grant(all, early);
  return true;
}

bool gfc_early_refusal(gfc_operations *all, const gfc_key *key, gfc_refusal *refusal) {
  gfc_early *early = find(all->refusals, key);
  if (early == NULL)
    return false;
  *refusal = early->refusal;
  forget_refusal(&all->refusals, early);
  return true;
}

int gfc_early_keep_grant(gfc_operations *all, const gfc_key *key, const gfc_grant *grant) {
  if (all->granted[key->rank] >= GRANTS_MAX)
    return GFSMITH_ELIMIT;
  if (find(all->grants, key) != NULL)
    return GFSMITH_EINVAL;
  gfc_early *early = add(&all->grants, key);
  if (early == NULL)
    return GFSMITH_ENOMEM;
  early->grant = *grant;
  all->granted[key->rank]++;
  return GFSMITH_OK;
}

static void keep_refusal(gfc_early **list, const gfc_key *key, const gfc_refusal *refusal) {
  gfc_early *early = find(*list, key);
  if (early == NULL && HASH_COUNT(*list) >= REFUSALS_MAX)
    forget_refusal(list, *list); /* lists are in the order of arrival */
  if (early == NULL)
    early = add(list, key);
  if (early != NULL)
    early->refusal = *refusal;
}

void gfc_early_keep_refusal(gfc_operations *all, const gfc_key *key, const gfc_refusal *refusal) {
  keep_refusal(&all->refusals, key, refusal);
}

static void say(gfc_operations *all, uint16_t rank, const gfc_refusal *refusal) {
  uint8_t body[GFC_REFUSAL_MAX];
  gfc_tell(all, rank, GFC_REFUSE, body, gfc_put_refusal(body, refusal));
}

void gfc_refuse(gfc_operations *all, const gfc_key *key, const gfc_refusal *refusal) {
  if (gfc_connected(all->node->engine, key->rank)) {
    say(all, key->rank, refusal);
    return;
  }
  gfc_refusal later = *refusal;
  later.granted = false; /* with the link a grant is void */
  keep_refusal(&all->unsaid, key, &later);
}

void gfc_early_up(gfc_operations *all, uint16_t rank) {
  gfc_early *early, *next;
  HASH_ITER(hh, all->unsaid, early, next) {
    if (early->key.rank == rank) {
      say(all, rank, &early->refusal);
      forget_refusal(&all->unsaid, early);
    }
  }
}

void gfc_early_down(gfc_operations *all, uint16_t rank) {
  gfc_early *early, *next;
  HASH_ITER(hh, all->grants, early, next) {
    if (early->key.rank == rank)
      forget_grant(all, early);
  }
}

void gfc_early_free(gfc_operations *all) {
  gfc_early *early, *next;
  HASH_ITER(hh, all->grants, early, next) { forget_grant(all, early); }
  HASH_ITER(hh, all->refusals, early, next) { forget_refusal(&all->refusals, early); }
  HASH_ITER(hh, all->unsaid, early, next) { forget_refusal(&all->unsaid, early); }
}
