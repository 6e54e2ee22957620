#include "net.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

typedef enum letter_kind { LETTER_LINK, LETTER_MESSAGE, LETTER_OVER } letter_kind;

/* An event from the engine's thread for the loop. */
typedef struct letter {
  struct letter *prev, *next;
  letter_kind kind;
  uint16_t rank;
  bool up;
  net_over *over;
  void *owner;
  gfsmith_outcome outcome;
  size_t bytes;
  uint8_t text[];
} letter;

struct net {
  gfsmith_node *node;
  trace *trace;
  net_events events;
  pthread_mutex_t lock; /* of letters */
  letter *letters;
  int wake;
  struct event *event;
};

/* The receiver of an operation's outcome. Its letter is allocated in advance, so that the report
 * cannot fail for lack of memory. */
typedef struct waiter {
  net *owner;
  letter *letter;
} waiter;

static void put(net *n, letter *l) {
  const uint64_t one = 1;
  pthread_mutex_lock(&n->lock);
  bool first = n->letters == NULL;
  DL_APPEND(n->letters, l);
  pthread_mutex_unlock(&n->lock);
  if (first && write(n->wake, &one, sizeof one) < 0)
    abort(); /* an eventfd accepts 2^64 - 2 of them */
}

static void on_link(void *context, uint16_t rank, bool up) {
  letter *l = calloc(1, sizeof *l);
  if (l == NULL)
    abort(); /* a missed loss of a link could make acknowledged writes wrong */
  l->kind = LETTER_LINK;
  l->rank = rank;
  l->up = up;
  put(context, l);
}

static void on_message(void *context, uint16_t rank, const void *bytes, size_t length) {
  letter *l = calloc(1, sizeof *l + length);
  if (l == NULL)
    return; /* treated as a lost message: senders that wait for an answer have a deadline */
  l->kind = LETTER_MESSAGE;
  l->rank = rank;
  l->bytes = length;
  memcpy(l->text, bytes, length);
  put(context, l);
}

static void on_over(void *context, const gfsmith_outcome *outcome) {
  waiter *w = context;
  w->letter->outcome = *outcome;
  put(w->owner, w->letter);
  free(w);
}

static void on_trace(void *context, const gfsmith_trace *operation) {
  trace_operation(((net *)context)->trace, operation);
}

gfsmith_notice net_notice(net *n, net_over *over, void *owner, gfsmith_operation **operation) {
  waiter *w = malloc(sizeof *w);
  letter *l = calloc(1, sizeof *l);
  if (w == NULL || l == NULL)
    abort();
  l->kind = LETTER_OVER;
  l->over = over;
  l->owner = owner;
  *w = (waiter){n, l};
  return (gfsmith_notice){.done = on_over, .context = w, .operation = operation};
}

void net_drop(const gfsmith_notice *notice) {
  waiter *w = notice->context;
  free(w->letter);
  free(w);
}

static void deliver(net *n, letter *l) {
  message m;
  switch (l->kind) {
  case LETTER_LINK:
    n->events.link(n->events.owner, l->rank, l->up);
    break;
  case LETTER_MESSAGE:
    if (message_decode(&m, l->text, l->bytes))
      n->events.message(n->events.owner, l->rank, &m);
    break;
  case LETTER_OVER:
    l->over(l->owner, &l->outcome);
    break;
  }
}

static letter *take_all(net *n) {
  pthread_mutex_lock(&n->lock);
  letter *letters = n->letters;
  n->letters = NULL;
  pthread_mutex_unlock(&n->lock);
  return letters;
}

static void on_wake(evutil_socket_t fd, short what, void *owner) {
  (void)what;
  net *n = owner;
  uint64_t count;
  letter *each, *next;
  if (read(fd, &count, sizeof count) < 0)
    return;
  letter *letters = take_all(n);
  DL_FOREACH_SAFE(letters, each, next) {
    deliver(n, each);
    free(each);
  }
}

bool net_open(net **out, struct event_base *base, const net_options *options,
              const net_events *events, char *reason) {
  gfsmith_node_options o;
  net *n = calloc(1, sizeof *n);
  if (n == NULL)
    abort();
  n->events = *events;
  n->trace = options->trace;
  pthread_mutex_init(&n->lock, NULL);
  n->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  n->event = event_new(base, n->wake, EV_READ | EV_PERSIST, on_wake, n);
  if (n->wake < 0 || n->event == NULL || event_add(n->event, NULL) != 0)
    abort();
  gfsmith_node_defaults(&o);
  o.rank = options->rank;
  o.host = options->host;
  o.port = options->port;
  o.key = options->key;
  o.key_bytes = options->key_bytes;
  o.deadline_ms = options->deadline_ms;
  if (options->provider != NULL)
    o.provider = options->provider;
  o.link = on_link;
  o.message = on_message;
  if (options->trace != NULL)
    o.trace = on_trace;
  o.context = n;
  *out = n;
  if (gfsmith_node_create(&n->node, &o, reason) == GFSMITH_OK)
    return true;
  net_close(n);
  *out = NULL;
  return false;
}

void net_close(net *n) {
  letter *each, *next;
  if (n == NULL)
    return;
  gfsmith_node_destroy(n->node);
  DL_FOREACH_SAFE(n->letters, each, next) { free(each); }
  event_free(n->event);
  close(n->wake);
  pthread_mutex_destroy(&n->lock);
  free(n);
}

gfsmith_node *net_node(net *n) { return n->node; }

int net_send(net *n, uint16_t rank, const message *m) {
  uint8_t bytes[GFSMITH_MESSAGE_MAX];
  return gfsmith_node_send(n->node, rank, bytes, message_encode(m, bytes));
}
