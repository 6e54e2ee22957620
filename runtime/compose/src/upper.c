/* What links tell, and what peers say of their ends of transfers. */
#include "operations.h"

#include <stdio.h>

static void peer_up(void *upper, uint16_t rank) {
  gfc_operations *all = upper;
  gfsmith_operation *operation, *next;
  gfc_early_up(all, rank);
  DL_FOREACH_SAFE(all->list, operation, next) {
    for (unsigned j = 0; j < operation->receives; j++) {
      gfc_end *end = &operation->end[j];
      if (end->key.rank == rank && end->asked)
        gfc_receive_ask(end);
    }
    gfc_settle(operation);
  }
}

/* The peer cannot write any more, and will not say anything of what it was granted. */
static void end_down(gfc_end *end, int status, const char *reason) {
  if (end->state == GFC_DONE)
    return;
  gfc_fail(end->operation, NULL, status, end->key.rank, "link to rank %u: %.200s", end->key.rank,
           reason);
  if (end->state != GFC_REVOKED)
    return;
  gfc_receive_close(end);
  gfc_end_done(end);
}

static void peer_down(void *upper, uint16_t rank, int status, const char *reason) {
  gfc_operations *all = upper;
  gfsmith_operation *operation, *next;
  gfc_early_down(all, rank);
  DL_FOREACH_SAFE(all->list, operation, next) {
    for (unsigned n = 0; n < operation->ends; n++) {
      if (operation->end[n].key.rank == rank)
        end_down(&operation->end[n], status, reason);
    }
    gfc_settle(operation);
  }
}

static void peer_wrong(gfc_operations *all, uint16_t rank, const char *reason) {
  gfc_drop(all->node->engine, rank, GFSMITH_ECORRUPT, reason);
}

static void peer_wrote(void *upper, uint16_t rank, uint32_t data) {
  gfc_operations *all = upper;
  size_t slot = data >> 16;
  gfc_end *end = slot < all->slots ? all->slot[slot] : NULL;
  if (end == NULL || end->key.rank != rank) {
    peer_wrong(all, rank, "it wrote where nothing was granted");
    return;
  }
  if (end->state != GFC_GRANTED)
    return; /* revoked, and the peer did not know yet */
  gfc_receive_landed(end, data & 0xffff);
  gfc_advance(end->operation);
}

static void write_over(void *upper, void *context, int status) {
  gfc_end *end = context;
  (void)upper;
  gfc_send_over(end, status);
  gfc_advance(end->operation);
}

static void refuse_grant(gfc_operations *all, uint16_t rank, const gfc_grant *grant, int status) {
  gfc_refusal refusal = {
      .job = grant->job, .edge = grant->edge, .role = GFC_SENDER, .code = status, .blame = -1};
  gfc_key key = {grant->job, rank, grant->edge, GFC_SENDER};
  snprintf(refusal.reason, sizeof refusal.reason, "rank %u: %s: %s", all->node->rank,
           "a grant cannot be kept", gfsmith_compose_strerror(status));
  gfc_refuse(all, &key, &refusal);
}

static bool take_grant(gfc_operations *all, uint16_t rank, const uint8_t *body, size_t bytes) {
  gfc_grant grant;
  if (!gfc_get_grant(&grant, body, bytes))
    return false;
  gfc_key key = {grant.job, rank, grant.edge, GFC_SENDER};
  gfc_end *end = gfc_find_end(all, &key);
  if (end != NULL) {
    gfc_send_granted(end, &grant);
    gfc_advance(end->operation);
    return true;
  }
  int status = gfc_early_keep_grant(all, &key, &grant);
  if (status != GFSMITH_OK)
    refuse_grant(all, rank, &grant, status);
  return true;
}

static bool take_landed(gfc_operations *all, uint16_t rank, const uint8_t *body, size_t bytes) {
  gfc_receipt receipt;
  if (!gfc_get_receipt(&receipt, body, bytes))
    return false;
  gfc_key key = {receipt.job, rank, receipt.edge, GFC_SENDER};
  gfc_end *end = gfc_find_end(all, &key);
  if (end == NULL)
    return true; /* the operation has failed meanwhile */
  if (end->state != GFC_GRANTED || end->posted < end->operation->slices ||
      end->grant.slot != receipt.slot)
    return false;
  gfc_end_done(end);
  gfc_advance(end->operation);
  return true;
}

/* A receiver that refuses wants to know when nothing can come any more: what was handed to the link
 * before this is before it on the way. */
static void release(gfc_operations *all, uint16_t rank, const gfc_refusal *refusal) {
  gfc_receipt receipt = {refusal->job, refusal->edge, refusal->slot};
  uint8_t body[GFC_RECEIPT_BYTES];
  gfc_key key = {refusal->job, rank, refusal->edge, GFC_SENDER};
  gfc_grant grant;
  gfc_early_grant(all, &key, &grant);
  gfc_triggers_flush(all, &key);
  gfc_tell(all, rank, GFC_RELEASE, body, gfc_put_receipt(body, &receipt));
}

static bool take_refusal(gfc_operations *all, uint16_t rank, const uint8_t *body, size_t bytes) {
  gfc_refusal refusal;
  if (!gfc_get_refusal(&refusal, body, bytes))
    return false;
  gfc_key key = {refusal.job, rank, refusal.edge,
                 refusal.role == GFC_SENDER ? GFC_RECEIVER : GFC_SENDER};
  gfc_end *end = gfc_find_end(all, &key);
  if (end != NULL)
    gfc_end_refused(end, &refusal);
  else if (!refusal.known)
    gfc_early_keep_refusal(all, &key, &refusal);
  if (refusal.granted)
    release(all, rank, &refusal);
  if (end != NULL)
    gfc_settle(end->operation);
  return true;
}

static bool take_release(gfc_operations *all, uint16_t rank, const uint8_t *body, size_t bytes) {
  gfc_receipt receipt;
  if (!gfc_get_receipt(&receipt, body, bytes) || receipt.slot >= all->slots)
    return false;
  gfc_end *end = all->slot[receipt.slot];
  if (end == NULL || end->state != GFC_REVOKED || end->key.rank != rank ||
      end->key.job != receipt.job || end->key.edge != receipt.edge)
    return false;
  gfc_receive_close(end);
  gfc_end_done(end);
  gfc_settle(end->operation);
  return true;
}

static void peer_said(void *upper, uint16_t rank, uint8_t type, const void *body, size_t bytes) {
  gfc_operations *all = upper;
  bool fine = false;
  switch (type) {
  case GFC_GRANT:
    fine = take_grant(all, rank, body, bytes);
    break;
  case GFC_LANDED:
    fine = take_landed(all, rank, body, bytes);
    break;
  case GFC_REFUSE:
    fine = take_refusal(all, rank, body, bytes);
    break;
  case GFC_RELEASE:
    fine = take_release(all, rank, body, bytes);
    break;
  }
  if (!fine)
    peer_wrong(all, rank, "what it says of a transfer cannot be");
}

const gfc_upper gfc_operations_upper = {
    .up = peer_up,
    .down = peer_down,
    .control = peer_said,
    .written = peer_wrote,
    .sent = write_over,
    .stop = gfc_operations_stop,
};
