/* Queued control messages: grants and refusals that a peer sent before the transfer was posted
 * here, and local refusals for peers without a link. */
#ifndef GFC_PENDING_MESSAGES_H
#define GFC_PENDING_MESSAGES_H

#include "link.h"
#include "wire.h"

typedef struct gfc_message gfc_message;

typedef struct gfc_pending {
  gfc_engine *engine;
  gfc_message *grants;                 /* by the key of the own end, in the order of arrival */
  gfc_message *refusals;               /* the same */
  gfc_message *unsent;                 /* local refusals that wait for a link, by the local end */
  uint32_t granted[GFSMITH_RANKS_MAX]; /* number of `grants`, by peer */
} gfc_pending;

/* Send a control message. Without a link nothing is sent, which is sufficient; if there is no
 * memory the link goes down. */
void gfc_tell(gfc_engine *engine, uint16_t rank, uint8_t type, const uint8_t *body, size_t bytes);

/* Take the early message for an end that now exists; false: there is none. */
bool gfc_pending_take_grant(gfc_pending *pending, const gfc_transfer_key *key, gfc_grant *grant);
bool gfc_pending_take_refusal(gfc_pending *pending, const gfc_transfer_key *key,
                              gfc_refusal *refusal);
/* Store an early message. GFSMITH_ELIMIT, GFSMITH_ENOMEM, GFSMITH_EINVAL (there is one already); if
 * there is no space for a refusal, it replaces the oldest one. */
int gfc_pending_keep_grant(gfc_pending *pending, const gfc_transfer_key *key,
                           const gfc_grant *grant);
void gfc_pending_keep_refusal(gfc_pending *pending, const gfc_transfer_key *key,
                              const gfc_refusal *refusal);
/* Notify a peer that this local end is refused, now or when there is a link. */
void gfc_pending_refuse(gfc_pending *pending, const gfc_transfer_key *key,
                        const gfc_refusal *refusal);
/* The link to a peer is up: send the refusals that waited for it. */
void gfc_pending_link_up(gfc_pending *pending, uint16_t rank);
/* The link to a peer is down: its grants are void. */
void gfc_pending_link_down(gfc_pending *pending, uint16_t rank);
void gfc_pending_free(gfc_pending *pending);

#endif
