#include "operations.h"

#include <stdio.h>
#include <stdlib.h>

#include "completion.h"
#include "operation.h"
#include "progress.h"
#include "transfer.h"
#include "triggers.h"

/* ---- creation ---- */

int gfc_operations_create(gfc_operations **out, gfc_engine *engine,
                          const gfsmith_node_options *options) {
  gfc_operations *all = calloc(1, sizeof *all);
  *out = NULL;
  if (all == NULL)
    return GFSMITH_ENOMEM;
  all->engine = all->pending.engine = engine;
  all->rank = options->rank;
  all->deadline_ms = options->deadline_ms;
  all->trace = options->trace;
  all->context = options->context;
  all->triggers = gfc_can_trigger(engine);
  all->kernels = gfc_kernels_create();
  all->memory = gfc_memory_create(engine, options->memory);
  if (all->kernels == NULL || all->memory == NULL) {
    gfc_operations_destroy(all);
    return GFSMITH_ENOMEM;
  }
  *out = all;
  return GFSMITH_OK;
}

void gfc_operations_destroy(gfc_operations *all) {
  if (all == NULL)
    return;
  gfc_pending_free(&all->pending);
  gfc_triggers_free(all);
  gfc_memory_destroy(all->memory);
  gfc_kernels_destroy(all->kernels);
  free(all->slot);
  free(all->unused);
  free(all);
}

/* ---- events of links ---- */

/* Cancel all operations, and those that are posted from now on. */
static void stop(void *observer) {
  gfc_operations *all = observer;
  gfsmith_operation *operation, *next;
  all->stopping = true;
  DL_FOREACH_SAFE(all->list, operation, next) {
    gfc_fail(operation, NULL, GFSMITH_ECANCELED, -1, "the node is being destroyed");
    gfc_settle(operation);
  }
}

static void peer_up(void *observer, uint16_t rank) {
  gfc_operations *all = observer;
  gfsmith_operation *operation, *next;
  gfc_pending_link_up(&all->pending, rank);
  DL_FOREACH_SAFE(all->list, operation, next) {
    for (unsigned j = 0; j < operation->receives; j++) {
      gfc_end *end = &operation->end[j];
      if (end->key.rank == rank && end->asked)
        gfc_receive_ask(end);
    }
    gfc_settle(operation);
  }
}

/* The link of an end is down: the peer can neither write nor confirm its grant. */
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

static void peer_down(void *observer, uint16_t rank, int status, const char *reason) {
  gfc_operations *all = observer;
  gfsmith_operation *operation, *next;
  gfc_pending_link_down(&all->pending, rank);
  DL_FOREACH_SAFE(all->list, operation, next) {
    for (unsigned n = 0; n < operation->ends; n++) {
      if (operation->end[n].key.rank == rank)
        end_down(&operation->end[n], status, reason);
    }
    gfc_settle(operation);
  }
}

static void peer_wrong(gfc_operations *all, uint16_t rank, const char *reason) {
  gfc_drop(all->engine, rank, GFSMITH_ECORRUPT, reason);
}

static void peer_wrote(void *observer, uint16_t rank, uint32_t data) {
  gfc_operations *all = observer;
  size_t slot = data >> 16;
  gfc_end *end = slot < all->slots ? all->slot[slot] : NULL;
  if (end == NULL || end->key.rank != rank) {
    peer_wrong(all, rank, "it wrote without a grant");
    return;
  }
  if (end->state != GFC_GRANTED)
    return; /* revoked, and the peer did not know it yet */
  gfc_receive_landed(end, data & 0xffff);
  gfc_advance(end->operation);
}

static void write_over(void *observer, void *context, int status) {
  gfc_end *end = context;
  (void)observer;
  gfc_send_over(end, status);
  gfc_advance(end->operation);
}

static void refuse_grant(gfc_operations *all, uint16_t rank, const gfc_grant *grant, int status) {
  gfc_refusal refusal = {
      .job = grant->job, .edge = grant->edge, .role = GFC_SENDER, .code = status, .blame = -1};
  gfc_transfer_key key = {grant->job, rank, grant->edge, GFC_SENDER};
  snprintf(refusal.reason, sizeof refusal.reason, "rank %u: %s: %s", all->rank,
           "a grant cannot be stored", gfsmith_compose_strerror(status));
  gfc_pending_refuse(&all->pending, &key, &refusal);
}

static bool take_grant(gfc_operations *all, uint16_t rank, const uint8_t *body, size_t bytes) {
  gfc_grant grant;
  if (!gfc_get_grant(&grant, body, bytes))
    return false;
  gfc_transfer_key key = {grant.job, rank, grant.edge, GFC_SENDER};
  gfc_end *end = gfc_end_find(all, &key);
  if (end != NULL) {
    gfc_send_granted(end, &grant);
    gfc_advance(end->operation);
    return true;
  }
  int status = gfc_pending_keep_grant(&all->pending, &key, &grant);
  if (status != GFSMITH_OK)
    refuse_grant(all, rank, &grant, status);
  return true;
}

static bool take_landed(gfc_operations *all, uint16_t rank, const uint8_t *body, size_t bytes) {
  gfc_receipt receipt;
  if (!gfc_get_receipt(&receipt, body, bytes))
    return false;
  gfc_transfer_key key = {receipt.job, rank, receipt.edge, GFC_SENDER};
  gfc_end *end = gfc_end_find(all, &key);
  if (end == NULL)
    return true; /* the operation has failed meanwhile */
  if (end->state != GFC_GRANTED || end->posted < end->operation->slices ||
      end->grant.slot != receipt.slot)
    return false;
  end->operation->trace.messages_received++;
  gfc_end_done(end);
  gfc_advance(end->operation);
  return true;
}

/* Notify a receiver that refused when no more data can arrive: RELEASE follows all writes that were
 * passed to the link before. */
static void release(gfc_operations *all, uint16_t rank, const gfc_refusal *refusal) {
  gfc_receipt receipt = {refusal->job, refusal->edge, refusal->slot};
  uint8_t body[GFC_RECEIPT_BYTES];
  gfc_transfer_key key = {refusal->job, rank, refusal->edge, GFC_SENDER};
  gfc_grant grant;
  gfc_pending_take_grant(&all->pending, &key, &grant);
  gfc_triggers_flush(all, &key);
  gfc_tell(all->engine, rank, GFC_RELEASE, body, gfc_put_receipt(body, &receipt));
}

static bool take_refusal(gfc_operations *all, uint16_t rank, const uint8_t *body, size_t bytes) {
  gfc_refusal refusal;
  if (!gfc_get_refusal(&refusal, body, bytes))
    return false;
  gfc_transfer_key key = {refusal.job, rank, refusal.edge,
                          refusal.role == GFC_SENDER ? GFC_RECEIVER : GFC_SENDER};
  gfc_end *end = gfc_end_find(all, &key);
  if (end != NULL)
    gfc_end_refused(end, &refusal);
  else if (!refusal.known)
    gfc_pending_keep_refusal(&all->pending, &key, &refusal);
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

static void peer_said(void *observer, uint16_t rank, uint8_t type, const void *body, size_t bytes) {
  gfc_operations *all = observer;
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
    peer_wrong(all, rank, "its message about a transfer is invalid");
}

const gfc_link_events gfc_operations_events = {
    .up = peer_up,
    .down = peer_down,
    .control = peer_said,
    .written = peer_wrote,
    .sent = write_over,
    .stop = stop,
};
