#include "call.h"

#include "common/answer.h"
#include "common/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
  agent *agent;
  uint64_t id;
  unsigned ms;
  uint64_t asked, waiting; /* ranks */
  gfsmith_operation *own;
  stripe *used; /* used by the local operation */
  bool own_runs, started;
  bool ours; /* only the local operation is awaited */
  struct event *timer;
  result result;
  call_done *done;
  void *owner;
  UT_hash_handle hh;
};

static void dispose(call *c) {
  if (TABLE_HAS(c, hh))
    HASH_DEL(c->agent->calls, c);
  if (c->timer != NULL)
    event_free(c->timer);
  gfsmith_operation_release(c->own);
  stripe_free(c->used);
  free(c);
}

/* A call is over when all answers have arrived and the local operation has ended. An abandoned
 * operation is not awaited: it ends when no peer can access its memory any more. */
static void check(call *c) {
  bool own = c->own_runs;
  if (!c->started || c->waiting != 0 || (own && c->result.status == GFSMITH_OK))
    return;
  result r = c->result;
  call_done *done = c->done;
  void *owner = c->owner;
  c->done = NULL;
  if (!own)
    dispose(c);
  if (done != NULL)
    done(owner, &r);
}

/* The first failure counts. The other participants receive a cancellation, so that they do not wait
 * in vain. */
static void fail(call *c, int status, const char *reason) {
  if (c->result.status != GFSMITH_OK)
    return;
  c->result.status = status;
  snprintf(c->result.reason, sizeof c->result.reason, "%s", reason);
  if (c->own_runs)
    gfsmith_operation_cancel(c->own);
  message m = {.type = MESSAGE_CANCEL, .epoch = c->agent->group.epoch, .version = c->id};
  for (uint16_t rank = 1; rank <= agent_nodes(c->agent); rank++)
    if (c->waiting >> rank & 1)
      net_send(c->agent->net, rank, &m);
}

static void on_timer(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  call *c = owner;
  if (c->done == NULL)
    return; /* it only waits for the local operation */
  uint64_t silent = c->waiting;
  char reason[AGENT_REASON] = "no answer within the deadline from chunk server";
  for (uint16_t rank = 1; rank <= agent_nodes(c->agent); rank++)
    if (silent >> rank & 1)
      append(reason, " %u", rank);
  c->waiting = 0;
  c->result.unable |= silent;
  fail(c, GFSMITH_ETIMEDOUT, silent != 0 ? reason : "the deadline has passed");
  for (uint16_t rank = 1; rank <= agent_nodes(c->agent); rank++)
    if (silent >> rank & 1)
      c->agent->events.silent(c->agent, rank);
  check(c);
}

call *call_begin(agent *a, unsigned ms, call_done *done, void *owner) {
  const struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};
  call *c = calloc(1, sizeof *c);
  if (c == NULL)
    return NULL;
  c->agent = a;
  c->timer = evtimer_new(a->base, on_timer, c);
  c->id = agent_number(a);
  c->ms = ms;
  c->done = done;
  c->owner = owner;
  if (c->timer != NULL && event_add(c->timer, &limit) == 0)
    HASH_ADD(hh, a->calls, id, sizeof c->id, c);
  if (TABLE_HAS(c, hh))
    return c;
  dispose(c);
  return NULL;
}

void call_hold(call *c, stripe *used) {
  c->used = used;
  used->users++;
}

void call_ours(call *c) { c->ours = true; }

uint64_t call_id(const call *c) { return c->id; }

unsigned call_limit(const call *c) { return c->ms + 1000; }

/* The deadline of a chunk server's part: it ends before the local operation, so that its answer
 * still arrives. */
static unsigned share_ms(const call *c) { return c->ms - c->ms / 4; }

static void ask(call *c, uint16_t rank, message *m) {
  char reason[64];
  m->epoch = c->agent->group.epoch;
  m->request = c->id;
  m->deadline_ms = share_ms(c);
  c->asked |= UINT64_C(1) << rank;
  int status = net_send(c->agent->net, rank, m);
  if (status == GFSMITH_OK) {
    c->waiting |= UINT64_C(1) << rank;
    return;
  }
  if (status == GFSMITH_ENOMEM) {
    fail(c, status, no_memory);
    return;
  }
  snprintf(reason, sizeof reason, "chunk server %u is gone", rank);
  c->result.unable |= UINT64_C(1) << rank;
  fail(c, GFSMITH_EPEER, reason);
}

void call_ask(call *c, uint16_t rank, message *m) {
  if (c->result.status == GFSMITH_OK)
    ask(c, rank, m);
}

void call_ask_all(call *c, message *m) {
  for (uint16_t rank = 1; rank <= agent_nodes(c->agent); rank++)
    ask(c, rank, m);
}

static void on_over(void *owner, const gfsmith_outcome *outcome) {
  call *c = owner;
  c->own_runs = false;
  if (outcome->status != GFSMITH_OK) {
    if (outcome->rank > 0 && outcome->rank < RANKS)
      c->result.accused |= UINT64_C(1) << outcome->rank;
    fail(c, outcome->status, outcome->reason);
  } else if (c->ours) {
    c->waiting = 0;
  }
  check(c);
}

bool call_notice(call *c, gfsmith_notice *notice) {
  bool done = net_notice(c->agent->net, notice, on_over, c, &c->own);
  if (!done)
    fail(c, GFSMITH_ENOMEM, no_memory);
  return done;
}

void call_posted(call *c, const gfsmith_notice *notice, int status) {
  c->own_runs = status == GFSMITH_OK;
  if (c->own_runs)
    return;
  net_drop(notice);
  fail(c, status, gfsmith_compose_strerror(status));
}

void call_go(call *c) {
  if (c->result.status != GFSMITH_OK && c->own_runs)
    gfsmith_operation_cancel(c->own); /* it failed before the operation was posted */
  c->started = true;
  if (c->own_runs || c->waiting != 0)
    return;
  event_active(c->timer, EV_TIMEOUT, 0); /* not directly: the caller has not finished */
}

/* Determine from an answer which ranks can take part in another try. */
static void judge(call *c, uint16_t rank, const message *m) {
  uint64_t bit = UINT64_C(1) << rank;
  switch (m->status) {
  case ANSWER_MISSING:
    c->result.missing |= bit;
    break;
  case GFSMITH_ECANCELED:
    break;
  case GFSMITH_ETIMEDOUT:
  case GFSMITH_EPEER:
  case GFSMITH_ECORRUPT:
    if (m->sink > 0 && m->sink < RANKS)
      c->result.accused |= UINT64_C(1) << m->sink;
    break;
  default:
    c->result.unable |= bit;
  }
}

void call_answer(agent *a, uint16_t rank, const message *m) {
  call *c;
  char reason[AGENT_REASON];
  uint64_t bit = UINT64_C(1) << rank;
  HASH_FIND(hh, a->calls, &m->request, sizeof m->request, c);
  if (c == NULL || !(c->waiting & bit))
    return; /* too late */
  c->waiting &= ~bit;
  if (m->status == GFSMITH_OK) {
    c->result.done |= bit;
  } else {
    snprintf(reason, sizeof reason, "chunk server %u: %.*s", rank,
             (int)(m->body_bytes < 255 ? m->body_bytes : 255), (const char *)m->body);
    judge(c, rank, m);
    fail(c, m->status, reason);
  }
  check(c);
}

void call_lost(agent *a, uint16_t rank, const char *why) {
  call *c, *next;
  char reason[AGENT_REASON];
  uint64_t bit = UINT64_C(1) << rank;
  snprintf(reason, sizeof reason, "chunk server %u %s", rank, why);
  HASH_ITER(hh, a->calls, c, next) {
    if (!(c->waiting & bit))
      continue;
    c->waiting &= ~bit;
    c->result.unable |= bit;
    fail(c, GFSMITH_EPEER, reason);
    if (c->started && c->waiting == 0)
      event_active(c->timer, EV_TIMEOUT, 0); /* not directly: `done` may begin or end other calls */
  }
}

void calls_let_go(agent *a) {
  for (call *c = a->calls; c != NULL; c = c->hh.next) {
    gfsmith_operation_release(c->own);
    c->own = NULL;
  }
}

void calls_free(agent *a) {
  while (a->calls != NULL)
    dispose(a->calls);
}
