#include "net.h"

#include "report.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

enum { PEERS = 64, QUIET_S = 60 };

typedef enum letter_kind {
  LETTER_DOWN, /* of a link; the first three kinds exist once for each peer */
  LETTER_UP,
  LETTER_LOST,
  LETTER_MESSAGE,
  LETTER_OVER
} letter_kind;

/* An event from the engine's thread for the loop. */
typedef struct letter {
  struct letter *prev, *next;
  net *net;
  letter_kind kind;
  uint16_t rank;
  bool waits; /* is it in the list? */
  net_over *over;
  void *owner;
  size_t bytes;
  uint8_t *text; /* a message, or a gfsmith_outcome */
} letter;

struct net {
  gfsmith_node *node;
  trace *trace;
  net_events events;
  pthread_mutex_t lock; /* of letters */
  letter *letters;
  int wake;
  struct event *event;
  /* Letters that need no memory when they are sent, because a missed loss of a link could make
   * acknowledged writes wrong; by peer and kind. */
  letter notes[PEERS][LETTER_MESSAGE];
  bool foreign[PEERS];       /* the peer has sent messages that this program does not know */
  time_t quiet_until[PEERS]; /* of the engine's thread: when the next loss of a link is reported */
};

/* Append a letter. If it is in the list already, the loss of messages keeps its place, because it
 * must be known before later messages; a change of a link moves, because the last one counts. */
static void put(net *n, letter *l) {
  const uint64_t one = 1;
  pthread_mutex_lock(&n->lock);
  bool first = n->letters == NULL;
  if (l->waits && l->kind != LETTER_LOST)
    DL_DELETE(n->letters, l);
  if (!l->waits || l->kind != LETTER_LOST)
    DL_APPEND(n->letters, l);
  l->waits = true;
  pthread_mutex_unlock(&n->lock);
  if (first && write(n->wake, &one, sizeof one) < 0)
    abort(); /* an eventfd accepts 2^64 - 2 of them */
}

static void put_note(net *n, uint16_t rank, letter_kind kind) {
  if (rank < PEERS)
    put(n, &n->notes[rank][kind]);
}

/* NULL: no memory. */
static letter *new_letter(net *n, letter_kind kind, size_t bytes) {
  letter *l = calloc(1, sizeof *l + bytes);
  if (l == NULL)
    return NULL;
  l->net = n;
  l->kind = kind;
  l->bytes = bytes;
  l->text = (uint8_t *)(l + 1);
  return l;
}

/* Report an attack on a link, or a wrong key, at most once a minute for each peer. */
static void report_loss(net *n, uint16_t rank) {
  char reason[GFSMITH_REASON_MAX];
  struct timespec now;
  int status = gfsmith_node_trouble(n->node, rank, reason);
  if (status != GFSMITH_ECORRUPT && status != GFSMITH_EAUTH)
    return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (n->quiet_until[rank] > now.tv_sec)
    return;
  n->quiet_until[rank] = now.tv_sec + QUIET_S;
  report("closed the link to rank %u: %s", rank, reason);
}

static void on_link(void *context, uint16_t rank, bool up) {
  if (!up && rank < PEERS)
    report_loss(context, rank);
  put_note(context, rank, up ? LETTER_UP : LETTER_DOWN);
}

static void on_message(void *context, uint16_t rank, const void *bytes, size_t length) {
  letter *l = new_letter(context, LETTER_MESSAGE, length);
  if (l == NULL) {
    put_note(context, rank, LETTER_LOST);
    return;
  }
  l->rank = rank;
  memcpy(l->text, bytes, length);
  put(context, l);
}

/* The context is a letter that was allocated in advance, so that the report of an outcome cannot
 * fail for lack of memory. */
static void on_over(void *context, const gfsmith_outcome *outcome) {
  letter *l = context;
  memcpy(l->text, outcome, sizeof *outcome);
  put(l->net, l);
}

static void on_trace(void *context, const gfsmith_trace *operation) {
  trace_operation(((net *)context)->trace, operation);
}

bool net_notice(net *n, gfsmith_notice *notice, net_over *over, void *owner,
                gfsmith_operation **operation) {
  letter *l = new_letter(n, LETTER_OVER, sizeof(gfsmith_outcome));
  if (l == NULL)
    return false;
  l->over = over;
  l->owner = owner;
  *notice = (gfsmith_notice){.done = on_over, .context = l, .operation = operation};
  return true;
}

void net_drop(const gfsmith_notice *notice) { free(notice->context); }

/* A peer with the key does not damage messages; reported once for each link. */
static void report_foreign(net *n, uint16_t rank) {
  if (rank < PEERS && !n->foreign[rank])
    report("rank %u runs another version of the store: its messages are ignored", rank);
  if (rank < PEERS)
    n->foreign[rank] = true;
}

static bool is_note(const letter *l) { return l->kind < LETTER_MESSAGE; }

static void deliver(net *n, const letter *l) {
  message m;
  gfsmith_outcome outcome;
  switch (l->kind) {
  case LETTER_DOWN:
  case LETTER_UP:
    n->foreign[l->rank] = false;
    n->events.link(n->events.owner, l->rank, l->kind == LETTER_UP);
    break;
  case LETTER_LOST:
    n->events.lost(n->events.owner, l->rank);
    break;
  case LETTER_MESSAGE:
    if (message_decode(&m, l->text, l->bytes))
      n->events.message(n->events.owner, l->rank, &m);
    else
      report_foreign(n, l->rank);
    break;
  case LETTER_OVER:
    memcpy(&outcome, l->text, sizeof outcome);
    l->over(l->owner, &outcome);
    break;
  }
}

/* The first letter, or NULL. From now on, the engine's thread can send a note again, which changes
 * nothing that deliver() reads. */
static letter *take(net *n) {
  pthread_mutex_lock(&n->lock);
  letter *l = n->letters;
  if (l != NULL) {
    DL_DELETE(n->letters, l);
    l->waits = false;
  }
  pthread_mutex_unlock(&n->lock);
  return l;
}

static void on_wake(evutil_socket_t fd, short what, void *owner) {
  (void)what;
  net *n = owner;
  uint64_t count;
  letter *l;
  if (read(fd, &count, sizeof count) < 0)
    return;
  while ((l = take(n)) != NULL) {
    deliver(n, l);
    if (!is_note(l))
      free(l);
  }
}

static void prepare_notes(net *n) {
  for (uint16_t rank = 0; rank < PEERS; rank++)
    for (letter_kind kind = LETTER_DOWN; kind < LETTER_MESSAGE; kind++)
      n->notes[rank][kind] = (letter){.net = n, .kind = kind, .rank = rank};
}

bool net_open(net **out, struct event_base *base, const net_options *options,
              const net_events *events, char *reason) {
  gfsmith_node_options o;
  net *n = calloc(1, sizeof *n);
  *out = NULL;
  if (n == NULL) {
    snprintf(reason, GFSMITH_REASON_MAX, "out of memory");
    return false;
  }
  prepare_notes(n);
  n->events = *events;
  n->trace = options->trace;
  pthread_mutex_init(&n->lock, NULL);
  n->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  n->event = event_new(base, n->wake, EV_READ | EV_PERSIST, on_wake, n);
  if (n->wake < 0 || n->event == NULL || event_add(n->event, NULL) != 0) {
    snprintf(reason, GFSMITH_REASON_MAX, "no memory or descriptor for its events");
    net_close(n);
    return false;
  }
  gfsmith_node_defaults(&o);
  o.rank = options->rank;
  o.host = options->host;
  o.port = options->port;
  o.key = options->keys->current;
  o.key_bytes = options->keys->current_bytes;
  o.deadline_ms = options->deadline_ms;
  if (options->provider != NULL)
    o.provider = options->provider;
  o.link = on_link;
  o.message = on_message;
  if (options->trace != NULL)
    o.trace = on_trace;
  o.context = n;
  *out = n;
  if (gfsmith_node_create(&n->node, &o, reason) == GFSMITH_OK) {
    int status = net_rekey(n, options->keys); /* also the previous key */
    if (status == GFSMITH_OK)
      return true;
    snprintf(reason, GFSMITH_REASON_MAX, "the keys: %s", gfsmith_compose_strerror(status));
  }
  net_close(n);
  *out = NULL;
  return false;
}

void net_close(net *n) {
  letter *l;
  if (n == NULL)
    return;
  gfsmith_node_destroy(n->node);
  while ((l = take(n)) != NULL)
    if (!is_note(l))
      free(l);
  if (n->event != NULL)
    event_free(n->event);
  close(n->wake);
  pthread_mutex_destroy(&n->lock);
  free(n);
}

int net_rekey(net *n, const keys *k) {
  return gfsmith_node_rekey(n->node, k->current, k->current_bytes, k->previous, k->previous_bytes);
}

gfsmith_node *net_node(net *n) { return n->node; }

int net_send(net *n, uint16_t rank, const message *m) {
  uint8_t bytes[GFSMITH_MESSAGE_MAX];
  return gfsmith_node_send(n->node, rank, bytes, message_encode(m, bytes));
}
