#include "server.h"

#include "common/answer.h"
#include "common/fault.h"
#include "common/files.h"
#include "common/report.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE = 5 }; /* ticks without a memcached until this is reported: it may be starting */

static void complain(server *s, const char *what) {
  if (strcmp(s->refusal, what) == 0)
    return;
  snprintf(s->refusal, sizeof s->refusal, "%s", what);
  report("%s", what);
}

static void answer(server *s, uint64_t request, int status, int culprit, const char *reason) {
  if (request == 0)
    return;
  message m = {.type = MESSAGE_ANSWER,
               .request = request,
               .status = status,
               .epoch = s->epoch,
               .sink = (uint16_t)(culprit < 0 ? LAYOUT_AGENT : culprit),
               .body = (const uint8_t *)reason,
               .body_bytes = (uint32_t)strlen(reason)};
  net_send(s->net, LAYOUT_AGENT, &m); /* if it is down, it needs no answer */
}

void server_answer(server *s, uint64_t request, int status, const char *reason) {
  answer(s, request, status, -1, reason);
}

void server_answer_outcome(server *s, uint64_t request, const gfsmith_outcome *outcome) {
  answer(s, request, outcome->status, outcome->rank, outcome->reason);
}

void server_lost_kept(server *s) {
  message m = {.type = MESSAGE_GONE, .epoch = s->epoch};
  kept_disconnect(s->kept);
  if (s->watch != NULL)
    event_free(s->watch);
  s->watch = NULL;
  if (s->greeted)
    net_send(s->net, LAYOUT_AGENT, &m);
  s->greeted = false;
  job_drop_all(s);
  complain(s, kept_reason(s->kept));
}

void server_answer_kept(server *s, uint64_t request, kept_status status) {
  static const int answers[] = {
      [KEPT_OK] = GFSMITH_OK,
      [KEPT_MISSING] = ANSWER_MISSING,
      [KEPT_DAMAGED] = ANSWER_MISSING,
      [KEPT_FULL] = ANSWER_FULL,
      [KEPT_TOO_LARGE] = ANSWER_TOO_LARGE,
      [KEPT_GONE] = ANSWER_NO_STORE,
  };
  server_answer(s, request, answers[status], status == KEPT_OK ? "" : kept_reason(s->kept));
  if (status == KEPT_GONE)
    server_lost_kept(s);
}

static void on_watch(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  server_lost_kept(owner);
}

/* Identify the memcached: an empty one gets an incarnation; one of another rank is refused. */
static bool identify(server *s) {
  kept_status status = kept_get_identity(s->kept, &s->who);
  if (status == KEPT_MISSING) {
    s->who = (identity){.rank = s->rank};
    randombytes_buf(s->who.incarnation, KEPT_ID);
    status = kept_put_identity(s->kept, &s->who);
  }
  if (status != KEPT_OK) {
    complain(s, kept_reason(s->kept));
    kept_disconnect(s->kept);
    return false;
  }
  if (s->who.rank != s->rank) {
    char text[128];
    snprintf(text, sizeof text, "the memcached here has the chunks of chunk server %u, not %u",
             s->who.rank, s->rank);
    complain(s, text);
    kept_disconnect(s->kept);
    return false;
  }
  return true;
}

static void connect_kept(server *s) {
  kept_status status = kept_connect(s->kept);
  s->failures = status == KEPT_OK ? 0 : s->failures + 1;
  if (status == KEPT_DAMAGED || s->failures == PATIENCE)
    complain(s, kept_reason(s->kept));
  if (status != KEPT_OK || !identify(s))
    return;
  s->refusal[0] = '\0';
  s->watch = event_new(s->base, kept_watch(s->kept), EV_READ, on_watch, s);
  if (s->watch != NULL)
    event_add(s->watch, NULL);
}

static void greet(server *s) {
  char text[192], group[2 * KEPT_ID + 1], incarnation[2 * KEPT_ID + 1], where[80];
  address mine = {.port = gfsmith_node_port(net_node(s->net))};
  memcpy(mine.host, s->host, sizeof mine.host);
  address_text(&mine, where);
  sodium_bin2hex(group, sizeof group, s->who.group, KEPT_ID);
  sodium_bin2hex(incarnation, sizeof incarnation, s->who.incarnation, KEPT_ID);
  int bytes = snprintf(text, sizeof text, "%s %s %s", group, incarnation, where);
  message m = {.type = MESSAGE_HELLO, .body = (const uint8_t *)text, .body_bytes = (uint32_t)bytes};
  s->greeted = net_send(s->net, LAYOUT_AGENT, &m) == GFSMITH_OK;
}

/* Read the agent's address again while there is no link: the agent may have moved. */
static void look_for_agent(server *s) {
  char text[FILES_TEXT];
  address a;
  if (!files_read(s->folder, "agent", text))
    return;
  text[strcspn(text, "\r\n")] = '\0';
  if (strcmp(text, s->agent) == 0 || strlen(text) >= sizeof s->agent || !address_parse(&a, text))
    return;
  if (gfsmith_node_peer(net_node(s->net), LAYOUT_AGENT, a.host, a.port) == GFSMITH_OK)
    strcpy(s->agent, text);
}

void server_tick(server *s) {
  if (!s->linked)
    look_for_agent(s);
  if (!kept_connected(s->kept))
    connect_kept(s);
  if (s->linked && kept_connected(s->kept) && !s->greeted)
    greet(s);
}

void server_link(server *s, uint16_t rank, bool up) {
  if (rank != LAYOUT_AGENT)
    return;
  s->linked = up;
  s->greeted = false;
  if (up)
    server_tick(s);
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
  if (!layout_create(&fresh, &options, reason)) {
    server_answer(s, m->request, ANSWER_REFUSED, reason);
    return;
  }
  if (fault_point("welcome.matrix") && !layout_spoil(fresh))
    report("the matrix cannot be spoilt");
  job_drop_all(s);
  layout_destroy(s->layout);
  s->layout = fresh;
  memcpy(s->who.group, group, KEPT_ID);
  server_answer_kept(s, m->request, kept_put_identity(s->kept, &s->who));
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
  kept_status status = kept_put_record(s->kept, m->version, m->body, m->body_bytes);
  (void)fault_point("meta.stored");
  server_answer_kept(s, m->request, status);
}

static void forget(server *s, const message *m) {
  kept_status status = kept_forget_record(s->kept, m->version);
  if (status == KEPT_OK && m->type == MESSAGE_FREE)
    status = kept_forget_chunk(s->kept, m->version);
  server_answer_kept(s, m->request, status);
}

static void wipe(server *s, const message *m) {
  job_drop_all(s);
  randombytes_buf(s->who.incarnation, KEPT_ID);
  kept_status status = kept_wipe(s->kept);
  if (status == KEPT_OK)
    status = kept_put_identity(s->kept, &s->who);
  server_answer_kept(s, m->request, status);
  if (status == KEPT_OK)
    greet(s); /* with another incarnation */
}

static void obey(server *s, const message *m) {
  switch (m->type) {
  case MESSAGE_WELCOME:
    welcome(s, m);
    break;
  case MESSAGE_ENCODE:
  case MESSAGE_FETCH:
  case MESSAGE_REPAIR:
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
    listing_answer(s, m);
    break;
  case MESSAGE_PING:
    server_answer(s, m->request, GFSMITH_OK, "");
    break;
  case MESSAGE_WIPE:
    wipe(s, m);
    break;
  default:
    break;
  }
}

void server_message(server *s, uint16_t rank, const message *m) {
  if (rank != LAYOUT_AGENT || m->epoch < s->epoch)
    return; /* from an agent that has been replaced */
  s->epoch = m->epoch;
  if (m->type == MESSAGE_PEER)
    meet(s, m);
  else if (m->type == MESSAGE_CANCEL)
    job_cancel(s, m->version);
  else if (!kept_connected(s->kept))
    server_answer(s, m->request, ANSWER_NO_STORE, "its memcached is down");
  else
    obey(s, m);
}
