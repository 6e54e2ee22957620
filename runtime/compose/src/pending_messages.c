#include "pending_messages.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* The most grants of one peer, as many as one job can have, and the most refusals of all peers. */
enum { GRANTS_MAX = GFSMITH_EDGES_MAX, REFUSALS_MAX = 4096 };

struct gfc_message {
  UT_hash_handle hh;
  gfc_transfer_key key; /* of the local end that it is meant for */
  union {
    gfc_grant grant;
    gfc_refusal refusal;
  };
};

void gfc_tell(gfc_engine *engine, uint16_t rank, uint8_t type, const uint8_t *body, size_t bytes) {
  int status = gfc_control(engine, rank, type, body, bytes);
  if (status != GFSMITH_OK && status != GFSMITH_EPEER)
    gfc_drop(engine, rank, status, "a message to it was lost");
}

static gfc_message *find(gfc_message *list, const gfc_transfer_key *key) {
  gfc_message *message;
  HASH_FIND(hh, list, key, sizeof *key, message);
  return message;
}

/* Add a message with a new key. NULL: out of memory. */
static gfc_message *add(gfc_message **list, const gfc_transfer_key *key) {
  gfc_message *message = calloc(1, sizeof *message);
  if (message == NULL)
    return NULL;
  message->key = *key;
  HASH_ADD(hh, *list, key, sizeof message->key, message);
  if (message->hh.tbl != NULL)
    return message;
  free(message);
  return NULL;
}

static void forget_grant(gfc_pending *pending, gfc_message *message) {
  pending->granted[message->key.rank]--;
  HASH_DEL(pending->grants, message);
  free(message);
}

static void forget_refusal(gfc_message **list, gfc_message *message) {
  HASH_DEL(*list, message);
  free(message);
}

bool gfc_pending_take_grant(gfc_pending *pending, const gfc_transfer_key *key, gfc_grant *grant) {
  gfc_message *message = find(pending->grants, key);
  if (message == NULL)
    return false;
  *grant = message->grant;
  forget_grant(pending, message);
  return true;
}

bool gfc_pending_take_refusal(gfc_pending *pending, const gfc_transfer_key *key,
                              gfc_refusal *refusal) {
  gfc_message *message = find(pending->refusals, key);
  if (message == NULL)
    return false;
  *refusal = message->refusal;
  forget_refusal(&pending->refusals, message);
  return true;
}

int gfc_pending_keep_grant(gfc_pending *pending, const gfc_transfer_key *key,
                           const gfc_grant *grant) {
  if (pending->granted[key->rank] >= GRANTS_MAX)
    return GFSMITH_ELIMIT;
  if (find(pending->grants, key) != NULL)
    return GFSMITH_EINVAL;
  gfc_message *message = add(&pending->grants, key);
  if (message == NULL)
    return GFSMITH_ENOMEM;
  message->grant = *grant;
  pending->granted[key->rank]++;
  return GFSMITH_OK;
}

static void keep_refusal(gfc_message **list, const gfc_transfer_key *key,
                         const gfc_refusal *refusal) {
  gfc_message *message = find(*list, key);
  if (message == NULL && HASH_COUNT(*list) >= REFUSALS_MAX)
    forget_refusal(list, *list); /* tables are in the order of arrival */
  if (message == NULL)
    message = add(list, key);
  if (message != NULL)
    message->refusal = *refusal;
}

void gfc_pending_keep_refusal(gfc_pending *pending, const gfc_transfer_key *key,
                              const gfc_refusal *refusal) {
  keep_refusal(&pending->refusals, key, refusal);
}

static void send_refusal(gfc_pending *pending, uint16_t rank, const gfc_refusal *refusal) {
  uint8_t body[GFC_REFUSAL_MAX];
  gfc_tell(pending->engine, rank, GFC_REFUSE, body, gfc_put_refusal(body, refusal));
}

void gfc_pending_refuse(gfc_pending *pending, const gfc_transfer_key *key,
                        const gfc_refusal *refusal) {
  if (gfc_connected(pending->engine, key->rank)) {
    send_refusal(pending, key->rank, refusal);
    return;
  }
  gfc_refusal later = *refusal;
  later.granted = false; /* a grant is void when the link is down */
  keep_refusal(&pending->unsent, key, &later);
}

void gfc_pending_link_up(gfc_pending *pending, uint16_t rank) {
  gfc_message *message, *next;
  HASH_ITER(hh, pending->unsent, message, next) {
    if (message->key.rank == rank) {
      send_refusal(pending, rank, &message->refusal);
      forget_refusal(&pending->unsent, message);
    }
  }
}

void gfc_pending_link_down(gfc_pending *pending, uint16_t rank) {
  gfc_message *message, *next;
  HASH_ITER(hh, pending->grants, message, next) {
    if (message->key.rank == rank)
      forget_grant(pending, message);
  }
}

void gfc_pending_free(gfc_pending *pending) {
  gfc_message *message, *next;
  HASH_ITER(hh, pending->grants, message, next) { forget_grant(pending, message); }
  HASH_ITER(hh, pending->refusals, message, next) { forget_refusal(&pending->refusals, message); }
  HASH_ITER(hh, pending->unsent, message, next) { forget_refusal(&pending->unsent, message); }
}
