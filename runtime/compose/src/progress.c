#include "progress.h"

#include "completion.h"
#include "compute.h"
#include "transfer.h"
#include "triggers.h"

/* Bytes of inputs and outputs that are computed before other operations continue. */
enum { TURN_BYTES = 1 << 20 };

/* ---- starting ---- */

static int list_end(gfc_operations *all, gfc_end *end) {
  if (gfc_end_find(all, &end->key) != NULL)
    return GFSMITH_EINVAL;
  HASH_ADD(hh, all->ends, key, sizeof end->key, end);
  end->listed = end->hh.tbl != NULL;
  return end->listed ? GFSMITH_OK : GFSMITH_ENOMEM;
}

/* List all ends. The peers of ends that cannot be listed have received no message, and receive none
 * when the operation fails: if an end is posted twice, the other operation handles it. */
static void list_ends(gfsmith_operation *operation) {
  const gfc_end *wrong = NULL;
  int status = GFSMITH_OK;
  for (unsigned n = 0; n < operation->ends && operation->phase == GFC_RUNNING; n++) {
    int listed = list_end(operation->all, &operation->end[n]);
    if (listed != GFSMITH_OK) {
      wrong = &operation->end[n];
      status = listed;
    }
  }
  if (status == GFSMITH_EINVAL)
    gfc_fail(operation, NULL, status, -1, "edge %u of rank %u is posted twice", wrong->key.edge,
             wrong->key.rank);
  else if (status != GFSMITH_OK)
    gfc_fail(operation, NULL, status, -1, "out of memory");
}

/* Handle the early messages, then grant memory to the senders. */
static void begin_ends(gfsmith_operation *operation) {
  gfc_operations *all = operation->all;
  for (unsigned n = 0; n < operation->ends && operation->phase == GFC_RUNNING; n++) {
    gfc_end *end = &operation->end[n];
    gfc_refusal refusal;
    if (gfc_pending_take_refusal(&all->pending, &end->key, &refusal))
      gfc_end_refused(end, &refusal);
  }
  for (unsigned n = 0; n < operation->ends && operation->phase == GFC_RUNNING; n++) {
    gfc_end *end = &operation->end[n];
    gfc_grant grant;
    if (end->key.role == GFC_SENDER && gfc_pending_take_grant(&all->pending, &end->key, &grant))
      gfc_send_granted(end, &grant);
    else if (end->key.role == GFC_RECEIVER && !operation->by_hand)
      gfc_receive_ask(end);
  }
}

void gfc_operation_start(void *observer, void *context) {
  gfc_operations *all = observer;
  gfsmith_operation *operation = context;
  operation->phase = GFC_RUNNING;
  operation->forwards = gfc_forwards(operation);
  DL_APPEND(all->list, operation);
  if (all->stopping)
    gfc_fail(operation, NULL, GFSMITH_ECANCELED, -1, "the node is being destroyed");
  else
    gfc_start_deadline(operation);
  list_ends(operation);
  begin_ends(operation);
  gfc_advance(operation);
}

/* ---- continuing ---- */

/* The number of slices that all receiving ends have. */
static size_t slices_here(const gfsmith_operation *operation) {
  size_t least = operation->slices;
  for (unsigned j = 0; j < operation->receives; j++) {
    if (operation->end[j].landed < least)
      least = operation->end[j].landed;
  }
  return least;
}

static void push_all(gfsmith_operation *operation) {
  for (unsigned n = operation->receives; n < operation->ends; n++)
    gfc_send_push(&operation->end[n]);
}

static void advance_later(void *observer, void *context) {
  gfsmith_operation *operation = context;
  (void)observer;
  operation->queued = false;
  gfc_advance(operation);
  gfc_operation_drop(operation);
}

static void advance_soon(gfsmith_operation *operation) {
  if (operation->queued)
    return;
  gfc_operation_hold(operation);
  operation->queued = true;
  int status = gfc_run(operation->all->engine, advance_later, operation);
  if (status == GFSMITH_OK)
    return;
  operation->queued = false;
  gfc_operation_drop(operation);
  gfc_fail(operation, NULL, status, -1, "going on: %s", gfsmith_compose_strerror(status));
}

static void compute_ready(gfsmith_operation *operation) {
  size_t here = slices_here(operation), room = TURN_BYTES;
  while (operation->phase == GFC_RUNNING && operation->computed < here) {
    bool whole = false;
    int status = gfc_compute(operation, operation->computed, &room, &whole);
    if (status != GFSMITH_OK) {
      gfc_fail(operation, NULL, status, -1, "the kernel: %s", gfsmith_compose_strerror(status));
      return;
    }
    if (!whole) {
      advance_soon(operation);
      return;
    }
    operation->computed++;
    push_all(operation);
  }
}

/* For gfsmith_incoherent: take the slices that the caller's thread has computed, and report to it
 * how many slices have arrived and have been sent. */
static void exchange(gfsmith_operation *operation) {
  pthread_mutex_lock(&operation->lock);
  operation->computed = operation->handed;
  pthread_mutex_unlock(&operation->lock);
  push_all(operation);
  size_t gone = operation->slices;
  for (unsigned n = operation->receives; n < operation->ends; n++) {
    const gfc_end *end = &operation->end[n];
    size_t over = end->posted - end->flying;
    gone = over < gone ? over : gone;
  }
  pthread_mutex_lock(&operation->lock);
  operation->here = slices_here(operation);
  operation->gone = gone;
  pthread_cond_broadcast(&operation->changed);
  pthread_mutex_unlock(&operation->lock);
}

void gfc_advance(gfsmith_operation *operation) {
  if (operation->phase == GFC_RUNNING) {
    if (operation->by_hand)
      exchange(operation);
    else
      compute_ready(operation);
  }
  gfc_settle(operation);
}
