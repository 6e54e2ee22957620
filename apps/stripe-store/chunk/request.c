#include "request.h"

#include "common/answer.h"
#include "common/fault.h"
#include "common/files.h"
#include "common/report.h"
#include "connection.h"
#include "job.h"
#include "listing.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* Has the agent not been replaced? Of two with one epoch, from copies of a folder, the first
 * counts. */
static bool latest(const server *s, const message *m) {
  return m->epoch > s->who.epoch || (m->epoch == s->who.epoch && m->hash == s->who.start);
}

/* Handle a welcome: the layout and the group of this chunk server. */
static void welcome(server *s, const message *m) {
  char text[LAYOUT_TEXT + 2 * KEPT_ID + 2], reason[GFSMITH_REASON_MAX] = "";
  layout_options options;
  uint8_t group[KEPT_ID];
  layout *fresh;
  snprintf(text, sizeof text, "%.*s", (int)m->body_bytes, (const char *)m->body);
  char *space = strrchr(text, ' ');
  if (space == NULL ||
      sodium_hex2bin(group, sizeof group, space + 1, strlen(space + 1), NULL, NULL, NULL) != 0 ||
      (*space = '\0', !layout_parse(&options, text))) {
    server_answer(s, m->request, ANSWER_REFUSED, "invalid welcome");
    return;
  }
  if (!latest(s, m)) {
    server_answer(s, m->request, ANSWER_REFUSED,
                  "another agent serves, started later or from a copy of the folder");
    return;
  }
  if (!layout_valid(&options, reason)) {
    server_answer(s, m->request, ANSWER_REFUSED, reason);
    return;
  }
  if (!layout_create(&fresh, &options, reason)) {
    s->greeted = false; /* no memory: instead of an answer, it greets again at the next tick */
    return;
  }
  if (fault_point("welcome.matrix") && !layout_spoil(fresh))
    report("the matrix cannot be spoilt");
  job_drop_all(s);
  layout_destroy(s->layout);
  s->layout = fresh;
  memcpy(s->who.group, group, KEPT_ID);
  s->who.epoch = m->epoch;
  s->who.start = m->hash;
  s->welcomed = true;
  kept_put_identity(s->kept, &s->who, server_ticket(m->request, NULL));
}

static void meet(const server *s, const message *m) {
  char text[80];
  address a;
  snprintf(text, sizeof text, "%.*s", (int)m->body_bytes, (const char *)m->body);
  if (m->sink != s->rank && address_parse(&a, text))
    gfsmith_node_peer(net_node(s->net), m->sink, a.host, a.port);
}

static void put_record(server *s, const message *m) {
  (void)fault_point("meta.command");
  if (fault_point("meta.full"))
    server_answer_kept(s, m->request, KEPT_FULL);
  else
    kept_put_record(s->kept, m->version, m->body, m->body_bytes, m->wanted != 0,
                    server_ticket(m->request, "meta.stored"));
}

/* A version that cannot be deleted must not come back after its successors: the agent compares the
 * lists again. */
static void on_forgotten(void *owner, const kept_ticket *ticket, kept_status status) {
  server_answer_kept(owner, ticket->request, status);
  if (ticket->request == 0 && status == KEPT_FULL)
    server_lost_kept(owner);
}

static void forget(server *s, const message *m) {
  if (m->type == MESSAGE_UNMETA)
    (void)fault_point("unmeta.command");
  if (m->type == MESSAGE_UNMETA)
    kept_forget_record(s->kept, m->version, server_ticket(m->request, NULL));
  else
    kept_forget(s->kept, m->version, (kept_ticket){on_forgotten, m->request, NULL});
}

/* It has the incarnation that is stored: another one, unless its items could not be deleted. */
static void on_wiped(void *owner, const kept_ticket *ticket, kept_status status) {
  server *s = owner;
  identity stored;
  s->wipes--;
  server_answer_kept(s, ticket->request, status);
  if (status == KEPT_GONE)
    return;
  if (kept_get_identity(s->kept, &stored) != KEPT_OK) {
    server_lost_kept(s);
    return;
  }
  memcpy(s->who.incarnation, stored.incarnation, KEPT_ID);
  connection_greet(s);
}

static void wipe(server *s, const message *m) {
  const kept_ticket ticket = {on_wiped, m->request, NULL};
  identity fresh = s->who;
  job_drop_all(s);
  randombytes_buf(fresh.incarnation, KEPT_ID);
  s->wipes++;
  if (fault_point("wipe.full"))
    on_wiped(s, &ticket, KEPT_FULL);
  else
    kept_wipe(s->kept, &fresh, ticket);
}

static void obey(server *s, const message *m) {
  switch (m->type) {
  case MESSAGE_WELCOME:
    if (s->wipes == 0)
      welcome(s, m);
    else
      s->greeted = false; /* its incarnation is not known: it greets again when that is over */
    break;
  case MESSAGE_ENCODE:
  case MESSAGE_FETCH:
  case MESSAGE_REPAIR:
  case MESSAGE_GATHER:
    job_begin(s, m);
    break;
  case MESSAGE_META:
    put_record(s, m);
    break;
  case MESSAGE_UNMETA:
  case MESSAGE_FREE:
    forget(s, m);
    break;
  case MESSAGE_LIST:
    if (m->wanted == 0)
      kept_settle(s->kept, (kept_ticket){listing_begin, m->request, NULL});
    else
      listing_go_on(s, m->request);
    break;
  case MESSAGE_PING:
    server_answer(s, m->request, GFSMITH_OK, "");
    break;
  case MESSAGE_GREET:
    connection_greet(s);
    break;
  case MESSAGE_WIPE:
    wipe(s, m);
    break;
  default:
    break;
  }
}

void request_handle(server *s, uint16_t rank, const message *m) {
  bool greeting = m->type == MESSAGE_WELCOME || m->type == MESSAGE_PEER || m->type == MESSAGE_GREET;
  if (rank != LAYOUT_AGENT || !(greeting || (s->welcomed && m->epoch == s->who.epoch)))
    return; /* from an agent that has been replaced */
  if (m->type == MESSAGE_PEER)
    meet(s, m);
  else if (m->type == MESSAGE_CANCEL)
    job_cancel(s, m->version);
  else if (!s->identified)
    server_answer(s, m->request, ANSWER_NO_STORE, "its items are not accessible");
  else
    obey(s, m);
}
