#include "completion.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "triggers.h"

void gfc_end_done(gfc_end *end) {
  if (end->listed)
    HASH_DEL(end->operation->all->ends, end);
  end->listed = false;
  end->state = GFC_DONE;
  end->operation->open--;
}

void gfc_trace(const gfsmith_operation *operation) {
  const gfc_operations *all = operation->all;
  if (all->trace != NULL)
    all->trace(all->context, &operation->trace);
}

/* Tell the caller that the operation is over. */
static void report(gfsmith_operation *operation) {
  operation->trace.status = operation->outcome.status;
  operation->trace.nanoseconds = gfc_now_ns() - operation->posted_ns;
  if (!operation->by_hand) {
    operation->trace.involvements++; /* the outcome is reported */
    gfc_trace(operation);
  }
  if (operation->done != NULL)
    operation->done(operation->context, &operation->outcome);
  pthread_mutex_lock(&operation->lock);
  operation->over = true;
  pthread_cond_broadcast(&operation->changed);
  pthread_mutex_unlock(&operation->lock);
}

void gfc_settle(gfsmith_operation *operation) {
  bool ends = operation->phase == GFC_ENDING ||
              (operation->phase == GFC_RUNNING && operation->computed == operation->slices);
  if (!ends || operation->open > 0 || operation->flying > 0)
    return;
  operation->phase = GFC_OVER;
  gfc_timer_stop(gfc_engine_timers(operation->all->engine), &operation->timer);
  DL_DELETE(operation->all->list, operation);
  gfc_triggers_close(operation);
  if (!operation->by_hand)
    gfc_operation_empty(operation);
  report(operation);
  gfc_operation_drop(operation);
}

/* Notify the peer of an end that the transfer has failed, unless the peer refused it (`known`) and
 * holds no grant. */
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
    snprintf(refusal.reason, sizeof refusal.reason, "rank %u: %.200s", operation->all->rank,
             operation->outcome.reason);
  gfc_pending_refuse(&operation->all->pending, &end->key, &refusal);
}

static void late(gfc_timer *timer);

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
  gfc_timer_start(gfc_engine_timers(operation->all->engine), &operation->timer,
                  gfc_now() + GFC_GRACE_MS, late);
}

void gfc_start_deadline(gfsmith_operation *operation) {
  gfc_timer_start(gfc_engine_timers(operation->all->engine), &operation->timer, operation->until,
                  late);
}

void gfc_end_refused(gfc_end *end, const gfc_refusal *refusal) {
  int rank = refusal->blame;
  if (rank < 0 || rank == end->operation->all->rank)
    rank = end->key.rank;
  gfc_fail(end->operation, end, refusal->code, rank, "%s", refusal->reason);
}

void gfc_operation_cancel(void *observer, void *context) {
  gfsmith_operation *operation = context;
  (void)observer;
  gfc_fail(operation, NULL, GFSMITH_ECANCELED, -1, "canceled");
  gfc_settle(operation);
  gfc_operation_drop(operation);
}

static void no_link(gfsmith_operation *operation, uint16_t rank, unsigned long long ms) {
  char trouble[GFSMITH_REASON_MAX] = "";
  int status = gfc_trouble(operation->all->engine, rank, trouble);
  gfc_fail(operation, NULL, status == GFSMITH_EAUTH ? status : GFSMITH_EPEER, rank,
           "no link to rank %u for %llu ms: %.180s", rank, ms,
           trouble[0] != 0 ? trouble : "nobody connects");
}

/* Fail an operation at its deadline. The reason names the first end that is not done, a receiving
 * end if there is one. */
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
  else if (!gfc_connected(operation->all->engine, end->key.rank))
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

/* The grace period is over: drop the links of peers that can still write here, or have not received
 * all data. */
static void drop_holders(gfsmith_operation *operation) {
  for (unsigned n = 0; n < operation->ends; n++) {
    const gfc_end *end = &operation->end[n];
    if (end->state == GFC_REVOKED || end->flying > 0)
      gfc_drop(operation->all->engine, end->key.rank, GFSMITH_ETIMEDOUT, "it does not answer");
  }
}

/* The deadline, then the grace period, is over. */
static void late(gfc_timer *timer) {
  gfsmith_operation *operation =
      (gfsmith_operation *)((char *)timer - offsetof(gfsmith_operation, timer));
  if (operation->phase == GFC_ENDING)
    drop_holders(operation);
  else
    time_out(operation);
  gfc_settle(operation);
}
