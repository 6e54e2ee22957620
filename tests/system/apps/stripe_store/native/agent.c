/* An agent in FOLDER that sends chunk server 1 two requests with one number, and FETCH with a shard
 * to store. It prints the number and the status of each answer. */
#include "common/files.h"
#include "common/layout.h"
#include "common/net.h"
#include "common/report.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

enum { EPOCH = 1000, CHUNK = 100, DEADLINE = 300, ANSWERS = 4 };
enum { WELCOME = 1, TWICE, WRONG };

typedef struct scene {
  struct event_base *base;
  net *net;
  layout *layout;
  layout_options options;
  unsigned answers;
} scene;

static void ask(scene *s, message m, uint64_t request) {
  m.epoch = EPOCH;
  m.request = request;
  m.length = CHUNK;
  m.deadline_ms = DEADLINE;
  if (net_send(s->net, 1, &m) != GFSMITH_OK)
    exit(1);
}

static void welcome(scene *s) {
  char text[LAYOUT_TEXT + 40], options[LAYOUT_TEXT];
  layout_text(&s->options, options);
  int bytes = snprintf(text, sizeof text, "%s %032d", options, 7);
  ask(s, (message){.type = MESSAGE_WELCOME, .body = (uint8_t *)text, .body_bytes = (uint32_t)bytes},
      WELCOME);
}

static void go_on(scene *s) {
  char reason[GFSMITH_REASON_MAX];
  const gfsmith_graph *graph = layout_encode(s->layout, 0, reason);
  message encode = {.type = MESSAGE_ENCODE, .version = 5, .hash = gfsmith_graph_hash(graph)};
  ask(s, encode, TWICE);
  ask(s, encode, TWICE);
  ask(s, (message){.type = MESSAGE_FETCH, .version = 6, .wanted = 1, .sink = 1}, WRONG);
}

static void on_message(void *owner, uint16_t rank, const message *m) {
  scene *s = owner;
  if (rank == 1 && m->type == MESSAGE_HELLO)
    welcome(s);
  if (rank != 1 || m->type != MESSAGE_ANSWER)
    return;
  printf("%d %d %.*s\n", (int)m->request, (int)m->status, (int)m->body_bytes,
         (const char *)m->body);
  if (m->request == WELCOME)
    go_on(s);
  if (++s->answers == ANSWERS)
    event_base_loopbreak(s->base);
}

static void on_link(void *owner, uint16_t rank, bool up) {
  (void)owner;
  (void)rank;
  (void)up;
}

static void on_lost(void *owner, uint16_t rank) {
  (void)owner;
  (void)rank;
}

int main(int argc, char **argv) {
  char reason[GFSMITH_REASON_MAX] = "", where[32];
  keys k;
  scene s = {.base = event_base_new(), .options = {.scheme = "rs", .k = 3, .m = 2}};
  const net_events events = {on_link, on_message, on_lost, &s};
  net_options options = {.host = "127.0.0.1", .keys = &k, .deadline_ms = 1000};
  report_name("agent");
  if (argc != 2 || sodium_init() < 0 || !keys_read(&k, argv[1]) ||
      !layout_create(&s.layout, &s.options, reason) ||
      !net_open(&s.net, s.base, &options, &events, reason))
    return refuse("%s", reason);
  snprintf(where, sizeof where, "127.0.0.1:%u\n", gfsmith_node_port(net_node(s.net)));
  if (files_write(argv[1], "agent", where, 0644) != FILES_WRITTEN)
    return refuse("agent: cannot be written");
  event_base_dispatch(s.base);
  net_close(s.net);
  layout_destroy(s.layout);
  event_base_free(s.base);
  return 0;
}
