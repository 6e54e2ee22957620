#include "clients.h"

#include "history.h"
#include "memcached.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/listener.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
  CLIENTS = 4,
  PLACES = 2,
  KEYS = 256,
  UNKNOWN_MAX = 5,  /* of a key, after which its place gets another one */
  OPERATIONS = 100, /* of a key, likewise */
  ROOM = 1 << 14,
  LIMIT = 3 /* seconds for a command while the agent runs */
};

typedef enum phase { RANDOM, RESTING, READING } phase;

typedef struct client {
  unsigned number;
  int fd; /* -1: not connected */
  operation *asked;
  bool sending;                  /* a part of the command has not been sent */
  bool finishing;                /* the operation is in no history */
  struct expiry *expiry;         /* NULL: the operation sets no time */
  uint64_t began, stood, serial; /* `stood`: pauses of the agent before */
  char answer[ROOM], line[ROOM];
  size_t filled;
  content seen[KEYS];    /* of each key */
  uint64_t unique[KEYS]; /* the number for cas of that */
  int reads;             /* keys read in the last phase */
} client;

static client all[CLIENTS];
static int place_key[PLACES], keys;
static unsigned key_count[KEYS];
static uint64_t key_written[KEYS]; /* `called` of the last write that was acknowledged */
static uint64_t flushed;           /* the last moment of a flush_all that may have lost values */
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

int clients_keys(void) { return keys; }
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

static void new_key(unsigned place) {
  if (keys == KEYS)
    world_fail("too many keys");
  place_key[place] = keys++;
}

static int choose_key(void) {
  unsigned place = (unsigned)world_random(PLACES);
  int *key = &place_key[place];
  if (key_count[*key] >= OPERATIONS || history_unknown(*key) >= UNKNOWN_MAX)
    new_key(place);
  key_count[*key]++;
  return *key;
}

/* The verbs that write a value, and their words. */
static bool stores(verb v) { return (v >= SET && v <= CAS) || (v >= REPLACE && v <= PREPEND); }

static const char *const words[] = {"gets",   "set",     "add",  "cas",  "delete", "replace",
                                    "append", "prepend", "incr", "decr", "touch",  "flush_all"};

static void complete_choice(const client *c, operation *o) {
  if (o->verb == CAS && c->seen[o->key] == 0)
    o->verb = GET;
  if (o->verb == CAS)
    o->expected = c->seen[o->key];
  if (stores(o->verb))
    o->value = content_text(++values);
}

/* Seconds, as memcached takes them: none, in the past, from now, a point of time. */
static int64_t choose_time(void) {
  int64_t seconds = (int64_t)world_between(1, 4);
  unsigned dice = (unsigned)world_random(100);
  return dice < 70 ? 0 : dice < 72 ? -1 : dice < 90 ? seconds : (int64_t)time(NULL) + seconds;
}

enum { COUNTER_ROOM = 20 }; /* bits of all that is added to a counter */

/* One of all commands. */
static operation choose_widely(const client *c) {
  static const unsigned shares[] = {300, 220, 60, 90, 80, 40, 50, 40, 40, 30, 46, 4};
  unsigned dice = (unsigned)world_random(1000);
  operation o = {.verb = GET};
  for (; dice >= shares[o.verb]; o.verb++)
    dice -= shares[o.verb];
  o.key = o.verb == FLUSH ? EVERY_KEY : choose_key();
  if (o.verb == FLUSH)
    return o;
  complete_choice(c, &o);
  if (o.verb == SET && world_chance(300))
    o.value = content_counter(values << COUNTER_ROOM);
  if (o.verb == INCR || o.verb == DECR)
    o.number = world_between(1, 1 << 12);
  if (o.verb == TOUCH || (stores(o.verb) && o.verb != APPEND && o.verb != PREPEND))
    o.exptime = choose_time();
  return o;
}

static operation choose(const client *c) {
  if (world_is_wide())
    return choose_widely(c);
  unsigned dice = (unsigned)world_random(100);
  operation o = {.key = choose_key()};
  o.verb = dice < 35 ? GET : dice < 65 ? SET : dice < 75 ? ADD : dice < 88 ? CAS : DELETE;
  complete_choice(c, &o);
  return o;
}

__attribute__((format(printf, 2, 3))) static void add_words(client *c, const char *format, ...) {
  size_t at = strlen(c->line);
  va_list values_of;
  va_start(values_of, format);
  vsnprintf(c->line + at, ROOM - at, format, values_of);
  va_end(values_of);
}

static void write_command(client *c, const operation *o) {
  char text[1024];
  snprintf(c->line, ROOM, "%s", words[o->verb]);
  if (o->verb != FLUSH)
    add_words(c, " key-%d", o->key);
  if (o->verb == INCR || o->verb == DECR)
    add_words(c, " %" PRIu64, o->number);
  if (o->verb == TOUCH)
    add_words(c, " %" PRId64, o->exptime);
  if (stores(o->verb)) {
    add_words(c, " 0 %" PRId64 " %zu", o->exptime, content_write(o->value, text, sizeof text));
    if (o->verb == CAS)
      add_words(c, " %" PRIu64, c->unique[o->key]);
    add_words(c, "\r\n%s", text);
  }
  add_words(c, "\r\n");
}

/* ---- times of expiry ------------------------------------------------------------------------- */

enum { LATEST = 10 }; /* seconds after which a command without an answer does not begin any more */

typedef struct expiry {
  operation *of;     /* the operation that has set the time */
  operation *expire; /* NULL: not yet */
} expiry;

static void on_earliest(void *what) {
  expiry *e = what;
  e->expire = history_begin((operation){.key = e->of->key, .verb = EXPIRE, .when = e->of->called});
}

static void on_latest(void *what) { history_end(((expiry *)what)->expire, DONE); }

static uint64_t in_seconds(void) { return world_now() / SECOND; }

/* The world's second in which a value expires if the command runs now. */
static uint64_t expires(int64_t exptime) {
  const int64_t now = (int64_t)in_seconds(), wall = (int64_t)time(NULL);
  return exptime < 0 ? 0 : (uint64_t)(exptime < wall / 2 ? now + exptime : now + exptime - wall);
}

static void at_second(uint64_t second, void (*event)(void *what), void *what) {
  uint64_t when = second * SECOND;
  world_after(when > world_now() ? when - world_now() : 0, event, what);
}

static expiry *expiry_begin(operation *o) {
  expiry *e = world_new(sizeof *e);
  e->of = o;
  at_second(expires(o->exptime), on_earliest, e);
  return e;
}

static void expiry_end(expiry *e) {
  uint64_t late = e->of->outcome == UNKNOWN ? LATEST : 0;
  at_second(expires(e->of->exptime) + late, on_latest, e);
}

/* ---- results --------------------------------------------------------------------------------- */

static bool error_is(const char *text) { return strncmp(last_error, text, strlen(text)) == 0; }

/* Has the value lost more chunks than the code bears, and does the agent say so? It cannot know
 * whether the chunks in a memcached that is down are lost. */
static bool is_excused(const client *c, const char *key) {
  if (key_written[c->asked->key] < flushed && error_is("SERVER_ERROR lost:"))
    return true;
  return memcached_excuses(key) &&
         (error_is("SERVER_ERROR lost:") ||
          (error_is("SERVER_ERROR not available now:") && memcached_down()));
}

/* The values of all keys may be lost by a flush_all that has failed, until they are written again.
 */
static void note_result(const client *c, const char *key, outcome result) {
  const operation *o = c->asked;
  deletions += result == DONE && o->verb == DELETE;
  if (o->verb == FLUSH && !o->refused)
    flushed = history_moment();
  else if (result == DONE && o->verb != GET && o->verb != FLUSH)
    memcached_acknowledged(key);
  if (result == DONE && o->verb != GET && o->verb != FLUSH && !c->finishing)
    key_written[o->key] = o->called;
}

static void finish(client *c, outcome result) {
  operation *o = c->asked;
  static const char *const outcomes[] = {"unknown", "done", "not done", "nothing"};
  char key[16];
  snprintf(key, sizeof key, "key-%d", o->key);
  world_trace("client %u: %s %s%s %" PRIu64, c->number, key, outcomes[result],
              o->refused ? ", refused" : "", o->value);
  bool lost = now_in == READING && result == UNKNOWN && o->verb == GET;
  note_result(c, key, result);
  if (lost && !is_excused(c, key))
    world_fail("key %d cannot be read without faults: %s", o->key, last_error);
  world_counts.lost += lost;
  if (!c->finishing)
    history_end(o, result);
  else
    stored_last = stored_last || result == DONE;
  if (c->expiry != NULL)
    expiry_end(c->expiry);
  c->expiry = NULL;
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
  int key, at = 0;
  size_t bytes;
  uint64_t unique;
  operation *o = c->asked;
  if (sscanf(c->answer, "VALUE key-%d 0 %zu %" SCNu64 "\r\n%n", &key, &bytes, &unique, &at) != 3 ||
      at == 0 || key != o->key || bytes > c->filled - (size_t)at ||
      strcmp(c->answer + at + bytes, "\r\nEND\r\n") != 0 ||
      (o->value = content_read(c->answer + at, bytes)) == 0)
    world_fail("key %d: bytes that no client has written: %.100s", o->key, c->answer);
  c->seen[key] = o->value;
  c->unique[key] = unique;
}

/* Does it begin with one of these texts? */
static bool says(const client *c, const char *const texts[]) {
  for (; *texts != NULL; texts++)
    if (strncmp(c->answer, *texts, strlen(*texts)) == 0)
      return true;
  return false;
}

static outcome meaning(client *c) {
  static const char *const refusals[] = {
      "SERVER_ERROR read-only:", "SERVER_ERROR unknown until",
      "SERVER_ERROR starting:", "SERVER_ERROR not flushed:", NULL};
  static const char *const done[] = {
      "END", "STORED", "DELETED", "TOUCHED", "OK", "SERVER_ERROR flushed,", NULL};
  static const char *const not_done[] = {"NOT_STORED", "EXISTS", "CLIENT_ERROR cannot increment",
                                         NULL};
  if (says(c, done))
    return DONE;
  if (starts(c, "SERVER_ERROR ")) {
    c->asked->refused = says(c, refusals);
    snprintf(last_error, sizeof last_error, "%.*s", (int)strcspn(c->answer, "\r"), c->answer);
    return UNKNOWN;
  }
  if (starts(c, "VALUE")) {
    take_value(c);
    return DONE;
  }
  verb of = c->asked->verb;
  if (starts(c, "NOT_FOUND") || (starts(c, "NOT_STORED") && of >= REPLACE && of <= PREPEND))
    return NOTHING;
  if (says(c, not_done))
    return NOT_DONE;
  if (sscanf(c->answer, "%" SCNu64, &c->asked->result) == 1)
    return DONE;
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
  if (o.exptime != 0)
    c->expiry = expiry_begin(c->asked);
  if (o.verb == FLUSH)
    flushed = history_moment();
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
    ask(c, (operation){.key = 1000, .verb = SET, .value = content_text(++values)});
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
