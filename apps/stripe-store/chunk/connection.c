#include "connection.h"

#include "common/files.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE = 5 }; /* ticks without a memcached until this is reported: it may be starting */

static void on_watch(evutil_socket_t fd, short what, void *owner) {
  server *s = owner;
  (void)fd;
  (void)what;
  if (kept_turn(s->kept) == KEPT_GONE)
    server_lost_kept(s);
}

static void refuse_items(server *s, const char *why) {
  server_complain(s, why);
  kept_disconnect(s->kept);
}

/* The identity is known and stored. Items of another rank are refused. */
static void on_identified(void *owner, const kept_ticket *ticket, kept_status status) {
  server *s = owner;
  char text[128];
  (void)ticket;
  snprintf(text, sizeof text, "the items here are those of chunk server %u, not %u", s->who.rank,
           s->rank);
  if (status == KEPT_OK && s->who.rank == s->rank) {
    s->refusal[0] = '\0';
    s->identified = true;
  } else {
    refuse_items(s, status == KEPT_OK ? text : kept_reason(s->kept));
  }
}

/* Read the identity; if there are no items yet, draw an incarnation. */
static void identify(server *s) {
  const kept_ticket ticket = {on_identified, 0, NULL};
  kept_status status = kept_get_identity(s->kept, &s->who);
  if (status != KEPT_MISSING) {
    on_identified(s, &ticket, status);
    return;
  }
  s->who = (identity){.rank = s->rank, .epoch = s->who.epoch, .start = s->who.start};
  randombytes_buf(s->who.incarnation, KEPT_ID);
  kept_put_identity(s->kept, &s->who, ticket);
}

static void watch(server *s) {
  if (s->watch != NULL)
    return; /* of a folder, whose descriptor remains */
  s->watch = event_new(s->base, kept_watch(s->kept), EV_READ | EV_PERSIST, on_watch, s);
  if (s->watch != NULL)
    event_add(s->watch, NULL);
}

static void connect_kept(server *s) {
  kept_status status = kept_connect(s->kept);
  s->failures = status == KEPT_OK ? 0 : s->failures + 1;
  if (status == KEPT_DAMAGED || s->failures == PATIENCE)
    server_complain(s, kept_reason(s->kept));
  if (status != KEPT_OK)
    return;
  identify(s);
  if (kept_connected(s->kept))
    watch(s);
}

void connection_greet(server *s) {
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

void connection_tick(server *s) {
  if (!kept_connected(s->kept))
    connect_kept(s);
  /* without items, it must not take the link from another one of its rank */
  if (!s->linked && (s->identified || s->agent[0] != '\0'))
    look_for_agent(s);
  if (s->linked && s->identified && !s->greeted && s->wipes == 0)
    connection_greet(s);
}

void connection_link(server *s, uint16_t rank, bool up) {
  if (rank != LAYOUT_AGENT)
    return;
  s->linked = up;
  s->greeted = s->welcomed = false;
  if (up)
    connection_tick(s);
}
