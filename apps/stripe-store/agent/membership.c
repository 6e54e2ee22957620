#include "membership.h"

#include "call.h"
#include "check.h"
#include "common/report.h"
#include "node.h"
#include "recover.h"
#include "sync.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void welcome(node *n);

/* Ask all chunk servers that are here for their lists again. */
static void list_again(agent *a) {
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (node_serves(&a->nodes[rank])) {
      sync_abandon(&a->nodes[rank]);
      welcome(&a->nodes[rank]);
    }
}

static void leave(node *n, node_state state, const char *why) {
  if (n->state != NODE_AWAY && n->state != NODE_SILENT)
    node_set_state(n, state);
  sync_abandon(n);
  node_forget_lists(n);
  call_lost(n->agent, n->rank, why);
  if (recover_undone(n->agent, n->rank))
    list_again(n->agent);
}

void membership_link(agent *a, uint16_t rank, bool up) {
  if (rank == 0 || rank > agent_nodes(a))
    return;
  node *n = &a->nodes[rank];
  n->linked = up;
  n->address[0] = '\0';
  n->pinged = n->unheard = false;
  if (!up) {
    leave(n, NODE_AWAY, "is gone");
    n->state = NODE_AWAY;
  }
}

void membership_gone(agent *a, uint16_t rank, const char *why) {
  node *n = &a->nodes[rank];
  report("chunk server %u %s", rank, why);
  leave(n, NODE_AWAY, why);
  n->state = NODE_AWAY;
  n->address[0] = '\0'; /* until its greeting, with another incarnation: no group with this one */
}

void membership_silent(agent *a, uint16_t rank) {
  leave(&a->nodes[rank], NODE_SILENT, "does not answer");
}

/* Ask for its greeting, as if it had just come. */
static void begin_anew(node *n, const char *why) {
  n->unheard = true;
  leave(n, NODE_AWAY, why);
  n->state = NODE_AWAY;
}

/* There was no memory for a step of its arrival, or its list may be wrong. */
static void begin_again(node *n) { begin_anew(n, "is coming back: out of memory"); }

void membership_renew(agent *a) {
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (a->nodes[rank].linked)
      begin_anew(&a->nodes[rank], "is coming back: the agent begins a new epoch");
}

void membership_lost(agent *a, uint16_t rank) {
  if (rank > 0 && rank <= agent_nodes(a))
    begin_again(&a->nodes[rank]);
}

void membership_unsure(agent *a, uint16_t rank) { begin_again(&a->nodes[rank]); }

/* ---- arrival: welcome, then list ------------------------------------------------------------ */

static void on_told(void *owner, const result *r);

static void ask(node *n, message *m) {
  call *c = call_begin(n->agent, n->agent->deadline_ms, on_told, n);
  if (c == NULL) {
    begin_again(n);
    return;
  }
  call_ask(c, n->rank, m);
  call_go(c);
}

/* Handle the answer to the welcome, or to a request for a part of the list. The part itself has
 * arrived before, on the same link, with the information whether more follows. */
static void on_told(void *owner, const result *r) {
  node *n = owner;
  message m = {.type = MESSAGE_LIST, .wanted = n->begun};
  if (n->state != NODE_LISTING)
    return;
  if (r->status == GFSMITH_ENOMEM) {
    begin_again(n);
  } else if (r->status != GFSMITH_OK) {
    report("%s", r->reason);
    leave(n, NODE_SILENT, "does not answer");
  } else if (n->more) {
    n->begun = true;
    n->more = false;
    ask(n, &m);
  } else {
    n->listed = true;
    node_set_state(n, NODE_LISTED);
    membership_advance(n->agent);
  }
}

/* False: no memory. */
static bool take_record(node *n, const uint8_t *bytes, size_t length) {
  record r;
  if (length == sizeof r.version)
    return versions_add(&n->damaged, get_le(bytes, sizeof r.version));
  return !record_decode(&r, bytes, length) || records_add(&n->records, bytes, length);
}

static bool take_chunks(node *n, const message *m) {
  for (uint32_t at = 0; at + 8 <= m->body_bytes; at += 8)
    if (!versions_add(&n->chunks, get_le(m->body + at, 8)))
      return false;
  return true;
}

static bool take_records(node *n, const message *m) {
  for (uint32_t at = 0; at + 2 <= m->body_bytes;) {
    uint32_t length = (uint32_t)get_le(m->body + at, 2);
    if (length > m->body_bytes - at - 2)
      return true;
    if (!take_record(n, m->body + at + 2, length))
      return false;
    at += 2 + length;
  }
  return true;
}

void membership_listed(agent *a, uint16_t rank, const message *m) {
  node *n = &a->nodes[rank];
  if (n->state != NODE_LISTING)
    return;
  n->more = m->present != 0;
  if (m->wanted ? !take_records(n, m) : !take_chunks(n, m))
    begin_again(n);
}

static void welcome(node *n) {
  agent *a = n->agent;
  char text[LAYOUT_TEXT + 2 * GROUP_ID + 2], hex[2 * GROUP_ID + 1], options[LAYOUT_TEXT];
  layout_text(layout_get(a->layout), options);
  sodium_bin2hex(hex, sizeof hex, a->group.id, GROUP_ID);
  int bytes = snprintf(text, sizeof text, "%s %s", options, hex);
  message m = {.type = MESSAGE_WELCOME,
               .hash = a->start,
               .body = (const uint8_t *)text,
               .body_bytes = (uint32_t)bytes};
  node_forget_lists(n);
  node_set_state(n, NODE_LISTING);
  n->begun = false;
  n->more = true;
  ask(n, &m);
}

/* False: no memory. */
static bool introduce(const agent *a, uint16_t to, uint16_t other) {
  const char *where = a->nodes[other].address;
  message m = {.type = MESSAGE_PEER,
               .epoch = a->group.epoch,
               .sink = other,
               .body = (const uint8_t *)where,
               .body_bytes = (uint32_t)strlen(where)};
  /* if it is down, they are introduced when it is back */
  return net_send(a->net, to, &m) != GFSMITH_ENOMEM;
}

/* ---- a group of new chunk servers ------------------------------------------------------------ */

static void form_group(agent *a) {
  group fresh = a->group;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    if (a->nodes[rank].address[0] == '\0')
      return;
    memcpy(fresh.incarnation[rank], a->nodes[rank].incarnation, GROUP_ID);
  }
  randombytes_buf(fresh.id, GROUP_ID);
  fresh.formed = true;
  if (!agent_save_group(a, &fresh))
    return;
  a->closed = true;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    welcome(&a->nodes[rank]);
}

void membership_hello(agent *a, uint16_t rank, const message *m) {
  node *n = &a->nodes[rank];
  char text[192], group_hex[2 * GROUP_ID + 1], hex[2 * GROUP_ID + 1], where[80];
  uint8_t of[GROUP_ID];
  const uint8_t none[GROUP_ID] = {0};
  snprintf(text, sizeof text, "%.*s", (int)(m->body_bytes < 190 ? m->body_bytes : 190),
           (const char *)m->body);
  if (sscanf(text, "%32s %32s %79s", group_hex, hex, where) != 3 ||
      sodium_hex2bin(of, GROUP_ID, group_hex, 2 * GROUP_ID, NULL, NULL, NULL) != 0 ||
      sodium_hex2bin(n->incarnation, GROUP_ID, hex, 2 * GROUP_ID, NULL, NULL, NULL) != 0) {
    report("chunk server %u: invalid greeting", rank);
    return;
  }
  if (memcmp(of, none, GROUP_ID) != 0 &&
      (!a->group.formed || memcmp(of, a->group.id, GROUP_ID) != 0)) {
    report("chunk server %u has chunks of another group: it cannot take part", rank);
    return;
  }
  n->unheard = false;
  leave(n, NODE_LISTING, "comes back");
  strcpy(n->address, where);
  bool known = true;
  for (uint16_t other = 1; known && other <= agent_nodes(a); other++)
    if (other != rank && a->nodes[other].address[0] != '\0')
      known = introduce(a, rank, other) && introduce(a, other, rank);
  if (!known)
    begin_again(n);
  else if (a->group.formed)
    welcome(n);
  else
    form_group(a);
}

/* ---- chunk servers without an answer --------------------------------------------------------- */

static void on_pong(void *owner, const result *r) {
  node *n = owner;
  n->pinged = false;
  if (n->state == NODE_SILENT && r->status == GFSMITH_OK)
    welcome(n);
}

static void ping(node *n) {
  message m = {.type = MESSAGE_PING};
  call *c = call_begin(n->agent, n->agent->deadline_ms, on_pong, n);
  if (c == NULL)
    return; /* again at the next tick */
  n->pinged = true;
  call_ask(c, n->rank, &m);
  call_go(c);
}

void membership_tick(agent *a) {
  const message greet = {.type = MESSAGE_GREET};
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    node *n = &a->nodes[rank];
    if (n->state == NODE_SILENT && !n->pinged && n->linked)
      ping(n);
    if (n->unheard)
      net_send(a->net, rank, &greet);
  }
  if (!a->group.formed)
    form_group(a);
  if (!a->closed)
    membership_advance(a);
  sync_tick(a);
}

void membership_advance(agent *a) {
  if (a->wipes)
    return;
  if (!a->closed && !recover_try(a)) {
    check_next(a);
    return;
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (a->nodes[rank].state == NODE_LISTED) {
      node_set_state(&a->nodes[rank], NODE_SYNCING);
      sync_begin(&a->nodes[rank]);
    }
}
