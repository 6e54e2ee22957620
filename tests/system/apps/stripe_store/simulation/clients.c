#include "clients.h"

#include "history.h"
#include "memcached.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/listener.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
  CLIENTS = 4,
  PLACES = 2,
  KEYS = 256,
  UNKNOWN_MAX = 5,  /* of a key, after which its place gets another one */
  OPERATIONS = 100, /* of a key, likewise */
  ROOM = 2048,
  LIMIT = 3 /* seconds for a command while the agent runs */
};

typedef enum phase { RANDOM, RESTING, READING } phase;

typedef struct client {
  unsigned number;
  int fd; /* -1: not connected */
  operation *asked;
  bool sending;                  /* a part of the command has not been sent */
  bool finishing;                /* the operation is in no history */
  uint64_t began, stood, serial; /* `stood`: pauses of the agent before */
  char answer[ROOM], line[ROOM];
  size_t filled;
  uint64_t seen[KEYS], unique[KEYS]; /* of each key: a value, and its number for cas */
  unsigned reads;                    /* keys read in the last phase */
} client;

static client all[CLIENTS];
static unsigned place_key[PLACES], key_count[KEYS], keys;
static uint64_t values;
static phase now_in;
static bool stored_last;
static unsigned deletions;
static char last_error[256];
static process *agent;
static struct sockaddr_un listening;
static socklen_t listening_bytes;

static void on_think(void *what);
int __real_getsockname(int fd, struct sockaddr *address, socklen_t *length);

unsigned clients_keys(void) { return keys; }
unsigned clients_deletions(void) { return deletions; }
const char *clients_error(void) { return last_error; }

static void think(client *c, uint64_t delay) { world_after(delay, on_think, c); }

/* ---- the sockets of the agent ---------------------------------------------------------------- */

struct evconnlistener *__wrap_evconnlistener_new_bind(struct event_base *base, evconnlistener_cb cb,
                                                      void *owner, unsigned flags, int backlog,
                                                      const struct sockaddr *address, int length) {
  (void)address;
  (void)length;
  struct sockaddr_un any = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  listening_bytes = sizeof listening;
  if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any.sun_family) != 0 ||
      __real_getsockname(fd, (struct sockaddr *)&listening, &listening_bytes) != 0)
    world_fail("no sockets for the simulation");
  agent = process_current;
  return evconnlistener_new(base, cb, owner, flags, backlog, fd);
}

/* The simulation has no clients of the agent's own user. */
bool __wrap_clients_listen_local(const void *a) {
  (void)a;
  return true;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *length) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(11211)};
  (void)fd;
  memcpy(address, &in, sizeof in);
  *length = sizeof in;
  return 0;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* The bytes of a value: its number, then letters that follow from it. */
static size_t body(uint64_t value, char *text) {
  int at = sprintf(text, "%" PRIu64 ":", value);
  size_t letters = value % 7 == 0 ? 0 : value * 37 % 150;
  for (size_t i = 0; i < letters; i++)
    text[at++] = (char)('a' + (value + i * i) % 26);
  text[at] = '\0';
  return (size_t)at;
}

static void new_key(unsigned place) {
  if (keys == KEYS)
    world_fail("too many keys");
  place_key[place] = keys++;
}

static unsigned choose_key(void) {
  unsigned place = (unsigned)world_random(PLACES), *key = &place_key[place];
  if (key_count[*key] >= OPERATIONS || history_unknown(*key) >= UNKNOWN_MAX)
    new_key(place);
  key_count[*key]++;
  return *key;
}

static operation choose(const client *c) {
  unsigned dice = (unsigned)world_random(100);
  operation o = {.key = choose_key()};
  o.verb = dice < 35 ? GET : dice < 65 ? SET : dice < 75 ? ADD : dice < 88 ? CAS : DELETE;
  if (o.verb == CAS && c->seen[o.key] == 0)
    o.verb = GET;
  if (o.verb == CAS)
    o.expected = c->seen[o.key];
  if (o.verb != GET && o.verb != DELETE)
    o.value = ++values;
  return o;
}

static void write_command(client *c, const operation *o) {
  static const char *const words[] = {"gets", "set", "add", "cas", "delete"};
  char text[512];
  int at = snprintf(c->line, ROOM, "%s key-%u", words[o->verb], o->key);
  if (o->value != 0) {
    size_t bytes = body(o->value, text);
    at += snprintf(c->line + at, ROOM - (size_t)at, " 0 0 %zu", bytes);
    if (o->verb == CAS)
      at += snprintf(c->line + at, ROOM - (size_t)at, " %" PRIu64, c->unique[o->key]);
    at += snprintf(c->line + at, ROOM - (size_t)at, "\r\n%s", text);
  }
  snprintf(c->line + at, ROOM - (size_t)at, "\r\n");
}

static bool error_is(const char *text) { return strncmp(last_error, text, strlen(text)) == 0; }

/* Has the value lost more chunks than the code bears, and does the agent say so? It cannot know
 * whether the chunks in a memcached that is down are lost. */
static bool is_excused(const char *key) {
  return memcached_excuses(key) &&
         (error_is("SERVER_ERROR lost:") ||
          (error_is("SERVER_ERROR not available now:") && memcached_down()));
}

static void finish(client *c, outcome result) {
  operation *o = c->asked;
  static const char *const outcomes[] = {"unknown", "done", "not done", "nothing"};
  char key[16];
  snprintf(key, sizeof key, "key-%u", o->key);
  world_trace("client %u: %s %s%s %" PRIu64, c->number, key, outcomes[result],
              o->refused ? ", refused" : "", o->value);
  bool lost = now_in == READING && result == UNKNOWN;
  deletions += result == DONE && o->verb == DELETE;
  if (result == DONE && o->verb != GET)
    memcached_acknowledged(key);
  if (lost && !is_excused(key))
    world_fail("key %u cannot be read without faults: %s", o->key, last_error);
  world_counts.lost += lost;
  if (!c->finishing)
    history_end(o, result);
  else
    stored_last = stored_last || result == DONE;
  c->asked = NULL;
  c->serial++;
  think(c, now_in == READING ? MS
                             : world_random(o->refused || world_chance(100) ? 200 * MS : 20 * MS));
}

static void hang_up(client *c) {
  if (c->fd >= 0)
    close(c->fd);
  c->fd = -1;
  c->filled = 0;
  if (c->asked != NULL)
    finish(c, UNKNOWN);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool starts(const client *c, const char *word) {
  return strncmp(c->answer, word, strlen(word)) == 0;
}

static bool complete(const client *c) {
  bool line = c->filled >= 2 && memcmp(c->answer + c->filled - 2, "\r\n", 2) == 0;
  return line && (!starts(c, "VALUE") ||
                  (c->filled > 5 && strcmp(c->answer + c->filled - 5, "END\r\n") == 0));
}

static void take_value(client *c) {
  char text[512];
  unsigned key;
  size_t bytes;
  int at = 0;
  uint64_t unique, value = 0;
  operation *o = c->asked;
  if (sscanf(c->answer, "VALUE key-%u 0 %zu %" SCNu64 "\r\n%n", &key, &bytes, &unique, &at) != 3 ||
      at == 0 || key != o->key || sscanf(c->answer + at, "%" SCNu64, &value) != 1 ||
      value > values || body(value, text) != bytes || memcmp(c->answer + at, text, bytes) != 0 ||
      strcmp(c->answer + at + bytes, "\r\nEND\r\n") != 0)
    world_fail("key %u: bytes that no client has written: %.100s", o->key, c->answer);
  o->value = value;
  c->seen[key] = value;
  c->unique[key] = unique;
}

static outcome meaning(client *c) {
  static const char *const refusals[] = {"read-only:", "unknown until", "starting:"};
  if (starts(c, "SERVER_ERROR ")) {
    for (unsigned i = 0; i < sizeof refusals / sizeof *refusals; i++)
      if (starts(c, "SERVER_ERROR ") &&
          strncmp(c->answer + 13, refusals[i], strlen(refusals[i])) == 0)
        c->asked->refused = true;
    snprintf(last_error, sizeof last_error, "%.*s", (int)strcspn(c->answer, "\r"), c->answer);
    return UNKNOWN;
  }
  if (starts(c, "VALUE")) {
    take_value(c);
    return DONE;
  }
  if (starts(c, "END") || starts(c, "STORED") || starts(c, "DELETED"))
    return DONE;
  if (starts(c, "NOT_FOUND"))
    return NOTHING;
  if (starts(c, "NOT_STORED") || starts(c, "EXISTS"))
    return NOT_DONE;
  world_fail("an answer that is none: %.100s", c->answer);
}

static void on_answer(void *what) {
  client *c = what;
  if (c->asked == NULL || c->sending || !complete(c))
    return;
  world_trace("client %u gets: %.*s", c->number, (int)strcspn(c->answer, "\r"), c->answer);
  /* with the waits for the locks of the other clients, each with a deadline of a second */
  uint64_t took = agent == NULL ? 0 : world_now() - c->began - (process_stood(agent) - c->stood);
  if (took > LIMIT * SECOND)
    world_fail("a command took %.1f s", (double)took / 1e9);
  c->filled = 0;
  finish(c, meaning(c));
}

static void receive(client *c) {
  ssize_t n = recv(c->fd, c->answer + c->filled, ROOM - 1 - c->filled, MSG_DONTWAIT);
  if (n > 0) {
    c->filled += (size_t)n;
    c->answer[c->filled] = '\0';
    if (complete(c))
      world_after(world_between(20 * US, 500 * US), on_answer, c);
  } else if (n == 0 && !(c->asked != NULL && complete(c))) {
    hang_up(c);
  }
}

static void on_ran(process *p) {
  if (p != agent)
    return;
  for (client *c = all; c < all + CLIENTS; c++) {
    if (c->fd >= 0 && c->asked != NULL)
      receive(c);
    if (c->fd >= 0 && p->dead) {
      close(c->fd);
      c->fd = -1;
      if (c->asked != NULL && !complete(c))
        hang_up(c);
    }
  }
  if (p->dead)
    agent = NULL;
}

/* ---- activity of the clients
 * ------------------------------------------------------------------------- */

static bool connected(client *c) {
  char byte;
  if (c->fd >= 0 && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
    return true;
  hang_up(c);
  if (agent == NULL)
    return false;
  c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (c->fd < 0)
    world_fail("no descriptors for the simulation");
  if (connect(c->fd, (struct sockaddr *)&listening, listening_bytes) == 0)
    return true;
  close(c->fd);
  c->fd = -1;
  return false;
}

typedef struct sending {
  client *client;
  uint64_t serial;
  size_t from;
} sending;

static void on_send(void *what) {
  sending *s = what;
  client *c = s->client;
  if (c->serial != s->serial || c->asked == NULL)
    return;
  if (c->fd < 0 || agent == NULL) {
    hang_up(c);
    return;
  }
  size_t left = strlen(c->line) - s->from;
  size_t part = world_chance(50) ? world_random(left) : left;
  if (send(c->fd, c->line + s->from, part, MSG_NOSIGNAL) != (ssize_t)part) {
    hang_up(c);
    return;
  }
  process_notify(agent);
  s->from += part;
  c->sending = part < left;
  if (c->sending)
    world_after(world_random(MS), on_send, s);
  else if (complete(c)) /* an answer before the end of the command */
    on_answer(c);
}

static void ask(client *c, operation o) {
  c->finishing = now_in == RESTING;
  if (c->finishing) {
    c->asked = world_new(sizeof o);
    *c->asked = o;
  } else {
    c->asked = history_begin(o);
  }
  c->began = world_now();
  c->stood = agent == NULL ? 0 : process_stood(agent);
  c->filled = 0;
  c->sending = true;
  write_command(c, &o);
  world_trace("client %u asks: %.*s", c->number, (int)strcspn(c->line, "\r"), c->line);
  sending *s = world_new(sizeof *s);
  *s = (sending){c, c->serial, 0};
  world_after(world_between(20 * US, 500 * US), on_send, s);
}

static void on_think(void *what) {
  client *c = what;
  if (c->asked != NULL)
    return;
  if (!connected(c)) {
    think(c, world_between(5 * MS, 30 * MS));
  } else if (now_in == RANDOM) {
    ask(c, choose(c));
  } else if (now_in == RESTING && c == all && !stored_last) {
    ask(c, (operation){.key = 1000, .verb = SET, .value = ++values});
  } else if (now_in == READING && c->reads < keys) {
    ask(c, (operation){.key = c->reads++, .verb = GET});
  } else if (now_in != READING) {
    think(c, 10 * MS);
  }
}

void clients_begin(void) {
  process_ran = on_ran;
  for (unsigned place = 0; place < PLACES; place++)
    new_key(place);
  for (unsigned i = 0; i < CLIENTS; i++) {
    all[i] = (client){.number = i, .fd = -1};
    think(&all[i], world_random(100 * MS));
  }
}

void clients_go_on(void) { now_in = RANDOM; }

void clients_rest(void) {
  now_in = RESTING;
  stored_last = false;
}

static bool idle(void) {
  for (unsigned i = 0; i < CLIENTS; i++)
    if (all[i].asked != NULL)
      return false;
  return true;
}

bool clients_rested(void) { return stored_last && idle(); }

void clients_read_all(void) {
  now_in = READING;
  for (unsigned i = 0; i < CLIENTS; i++) {
    hang_up(&all[i]); /* the agent closes a connection for which it had no memory, perhaps later */
    all[i].reads = 0;
    think(&all[i], MS);
  }
}

bool clients_have_read(void) {
  for (unsigned i = 0; i < CLIENTS; i++)
    if (all[i].reads < keys)
      return false;
  return idle();
}
