#include "operations.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of inputs and outputs that are computed before others have a turn. */
enum { TURN_BYTES = 1 << 20 };

void gfc_tell(gfc_operations *all, uint16_t rank, uint8_t type, const uint8_t *body, size_t bytes) {
  int status = gfc_control(all->node->engine, rank, type, body, bytes);
  if (status != GFSMITH_OK && status != GFSMITH_EPEER)
    gfc_drop(all->node->engine, rank, status, "a message to it was lost");
}

void gfc_end_done(gfc_end *end) {
  if (end->listed)
    HASH_DEL(end->operation->all->ends, end);
  end->listed = false;
  end->state = GFC_DONE;
  end->operation->open--;
}

static void deadline(gfc_timer *timer);

/* ---- starting ---- */

static int list_end(gfc_operations *all, gfc_end *end) {
  if (gfc_find_end(all, &end->key) != NULL)
    return GFSMITH_EINVAL;
  HASH_ADD(hh, all->ends, key, sizeof end->key, end);
  end->listed = end->hh.tbl != NULL;
  return end->listed ? GFSMITH_OK : GFSMITH_ENOMEM;
}

/* Those that cannot be listed have not been told of, and will not be when the operation fails: of
 * an end that is posted twice it is the other operation that speaks. */
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

/* Look at what peers said before, then tell those that wait for us. */
static void begin_ends(gfsmith_operation *operation) {
  gfc_operations *all = operation->all;
  for (unsigned n = 0; n < operation->ends && operation->phase == GFC_RUNNING; n++) {
    gfc_end *end = &operation->end[n];
    gfc_refusal refusal;
    if (gfc_early_refusal(all, &end->key, &refusal))
      gfc_end_refused(end, &refusal);
  }
  for (unsigned n = 0; n < operation->ends && operation->phase == GFC_RUNNING; n++) {
    gfc_end *end = &operation->end[n];
    gfc_grant grant;
    if (end->key.role == GFC_SENDER && gfc_early_grant(all, &end->key, &grant))
      gfc_send_granted(end, &grant);
    else if (end->key.role == GFC_RECEIVER && !operation->by_hand)
      gfc_receive_ask(end);
  }
}

void gfc_operation_start(void *operations, void *context) {
  gfc_operations *all = operations;
  gfsmith_operation *operation = context;
  operation->phase = GFC_RUNNING;
  operation->forwards = gfc_forwards(operation);
  DL_APPEND(all->list, operation);
  if (all->stopping)
    gfc_fail(operation, NULL, GFSMITH_ECANCELED, -1, "the node is being destroyed");
  else
    gfc_timer_start(gfc_engine_timers(all->node->engine), &operation->timer, operation->until,
                    deadline);
  list_ends(operation);
  begin_ends(operation);
  gfc_advance(operation);
}

/* ---- going on ---- */

/* Slices that all receiving ends have. */
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

static void advance_later(void *operations, void *context) {
  gfsmith_operation *operation = context;
  (void)operations;
  operation->queued = false;
  gfc_advance(operation);
  gfc_operation_drop(operation);
}

static void advance_soon(gfsmith_operation *operation) {
  if (operation->queued)
    return;
  gfc_operation_hold(operation);
  operation->queued = true;
  int status = gfc_run(operation->all->node->engine, advance_later, operation);
  if (status == GFSMITH_OK)
    return;
  operation->queued = false;
  gfc_operation_drop(operation);
  gfc_fail(operation, NULL, status, -1, "going on: %s", gfsmith_compose_strerror(status));
}

static void compute_ready(gfsmith_operation *operation) {
  size_t here = slices_here(operation), done = 0;
  while (operation->phase == GFC_RUNNING && operation->computed < here) {
    if (done >= TURN_BYTES) {
      advance_soon(operation);
      return;
    }
    int status = gfc_compute(operation, operation->computed);
    if (status != GFSMITH_OK) {
      gfc_fail(operation, NULL, status, -1, "the kernel: %s", gfsmith_compose_strerror(status));
      return;
    }
    done += gfc_slice_bytes(operation, operation->computed++) *
            (operation->inputs + operation->outputs);
    push_all(operation);
  }
}

/* By hand: take what the caller's thread has computed, and tell it how far links are. */
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

/* ---- ending ---- */

void gfc_settle(gfsmith_operation *operation) {
  bool ends = operation->phase == GFC_ENDING ||
              (operation->phase == GFC_RUNNING && operation->computed == operation->slices);
  if (!ends || operation->open > 0 || operation->flying > 0)
    return;
  operation->phase = GFC_OVER;
  gfc_timer_stop(gfc_engine_timers(operation->all->node->engine), &operation->timer);
  DL_DELETE(operation->all->list, operation);
  gfc_triggers_close(operation);
  if (!operation->by_hand)
    gfc_operation_empty(operation);
  gfc_handle_over(operation);
  gfc_operation_drop(operation);
}

/* Tell the peer of an end that nothing will come of it, unless it said so itself and holds no
 * grant. */
static void refuse_end(gfc_end *end, bool known) {
  const gfsmith_operation *operation = end->operation;
  gfc_refusal refusal = {.job = end->key.job,
                         .edge = end->key.edge,
                         .slot = end->slot,
                         .role = (uint8_t)end->key.role,
                         .granted = end->state == GFC_REVOKED,
                         .known = known,
                         .code = operation->outcome.status,
                         .blame = operation->outcome.rank};
  if (!end->listed || (known && !refusal.granted))
    return;
  if (operation->told)
    memcpy(refusal.reason, operation->outcome.reason, sizeof refusal.reason);
  else
    snprintf(refusal.reason, sizeof refusal.reason, "rank %u: %.200s", operation->all->node->rank,
             operation->outcome.reason);
  gfc_refuse(operation->all, &end->key, &refusal);
}

static void end_all(gfsmith_operation *operation, const gfc_end *cause) {
  for (unsigned n = 0; n < operation->ends; n++) {
    gfc_end *end = &operation->end[n];
    if (end->state == GFC_DONE)
      continue;
    if (end->key.role == GFC_RECEIVER && end->state == GFC_GRANTED) {
      end->state = GFC_REVOKED;
      refuse_end(end, end == cause);
    } else if (end->state != GFC_REVOKED) {
      refuse_end(end, end == cause);
      gfc_end_done(end);
    }
  }
}

void gfc_fail(gfsmith_operation *operation, const gfc_end *cause, int status, int rank,
              const char *format, ...) {
  if (operation->phase != GFC_RUNNING)
    return;
  va_list words;
  va_start(words, format);
  vsnprintf(operation->outcome.reason, sizeof operation->outcome.reason, format, words);
  va_end(words);
  operation->outcome.status = status;
  operation->outcome.rank = rank;
  operation->told = cause != NULL;
  operation->phase = GFC_ENDING;
  end_all(operation, cause);
  gfc_timer_start(gfc_engine_timers(operation->all->node->engine), &operation->timer,
                  gfc_now() + GFC_GRACE_MS, deadline);
}

void gfc_end_refused(gfc_end *end, const gfc_refusal *refusal) {
  int rank = refusal->blame;
  if (rank < 0 || rank == end->operation->all->node->rank)
    rank = end->key.rank;
  gfc_fail(end->operation, end, refusal->code, rank, "%s", refusal->reason);
}

void gfc_operation_cancel(void *operations, void *context) {
  gfsmith_operation *operation = context;
  (void)operations;
  gfc_fail(operation, NULL, GFSMITH_ECANCELED, -1, "canceled");
  gfc_settle(operation);
  gfc_operation_drop(operation);
}

static void no_link(gfsmith_operation *operation, uint16_t rank, unsigned long long ms) {
  char trouble[GFSMITH_REASON_MAX] = "";
  int status = gfc_trouble(operation->all->node->engine, rank, trouble);
  gfc_fail(operation, NULL, status == GFSMITH_EAUTH ? status : GFSMITH_EPEER, rank,
           "no link to rank %u for %llu ms: %.180s", rank, ms,
           trouble[0] != 0 ? trouble : "nobody connects");
}

/* What an operation waits for, of those ends that hold it up: a receiving end first. */
static void time_out(gfsmith_operation *operation) {
  const gfc_end *end = operation->end;
  unsigned n = 0;
  while (n + 1 < operation->ends && operation->end[n].state == GFC_DONE)
    n++;
  end += n;
  unsigned rank = end->key.rank, edge = end->key.edge;
  unsigned long long ms = gfc_now() - operation->posted_at;
  if (operation->ends == 0 || end->state == GFC_DONE)
    gfc_fail(operation, NULL, GFSMITH_ETIMEDOUT, -1, "not done after %llu ms", ms);
  else if (!gfc_connected(operation->all->node->engine, end->key.rank))
    no_link(operation, end->key.rank, ms);
  else if (end->key.role == GFC_RECEIVER)
    gfc_fail(operation, NULL, GFSMITH_ETIMEDOUT, (int)rank,
             "%zu of %zu slices of edge %u from rank %u after %llu ms", end->landed,
             operation->slices, edge, rank, ms);
  else
    gfc_fail(operation, NULL, GFSMITH_ETIMEDOUT, (int)rank,
             end->state == GFC_IDLE ? "rank %u does not receive edge %u after %llu ms"
                                    : "rank %u has not confirmed edge %u after %llu ms",
             rank, edge, ms);
}

/* The grace is over: who can still write here, or has not taken what was sent, is not waited for.
 */
static void drop_holders(gfsmith_operation *operation) {
  for (unsigned n = 0; n < operation->ends; n++) {
    const gfc_end *end = &operation->end[n];
    if (end->state == GFC_REVOKED || end->flying > 0)
      gfc_drop(operation->all->node->engine, end->key.rank, GFSMITH_ETIMEDOUT,
               "it does not answer");
  }
}

static void deadline(gfc_timer *timer) {
  gfsmith_operation *operation =
      (gfsmith_operation *)((char *)timer - offsetof(gfsmith_operation, timer));
  if (operation->phase == GFC_ENDING)
    drop_holders(operation);
  else
    time_out(operation);
  gfc_settle(operation);
}
