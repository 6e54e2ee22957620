/* Wing and Gong's search with Lowe's memory of the states that were visited. */
#include "history.h"

#include "world.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { LONGEST = 256, VISITED = 1 << 18 };

static operation *all, **last = &all;
static uint64_t moment;

uint64_t history_moment(void) { return moment; }

operation *history_begin(operation o) {
  operation *made = world_new(sizeof *made);
  *made = o;
  made->called = ++moment;
  made->answered = UINT64_MAX;
  made->outcome = UNKNOWN;
  *last = made;
  last = &made->next;
  world_counts.operations += o.verb != EXPIRE;
  return made;
}

void history_end(operation *o, outcome result) {
  o->outcome = result;
  if (result != UNKNOWN)
    o->answered = ++moment;
}

unsigned history_unknown(int key) {
  unsigned count = 0;
  for (const operation *o = all; o != NULL; o = o->next)
    count += o->key == key && o->outcome == UNKNOWN && o->verb != GET && !o->refused;
  return count;
}

/* The state of a key. Only numbers of 64 bits: it is hashed. */
typedef struct state {
  content value;
  uint64_t expires; /* `called` of the operation that has set its time; 0: it has none */
  uint64_t touched; /* of the touch after the last write, after which no cas succeeds; 0: none */
  /* The value that has expired, and when that was certain: a command that had found it may still
   * change it, while others miss it. */
  content expired;
  uint64_t certain;
} state;

static content counted(const operation *o, content old) {
  uint64_t n;
  if (!content_counts(old, &n))
    return 0;
  n = o->verb == INCR ? n + o->number : n > o->number ? n - o->number : 0;
  return o->outcome == DONE && n != o->result ? 0 : content_counter(n);
}

/* The value after the operation; 0: it has no effect. */
static content written(const operation *o, const state *s) {
  switch (o->verb) {
  case SET:
    return o->value;
  case ADD:
    return s->value == 0 ? o->value : 0;
  case CAS:
    return s->value != 0 && s->value == o->expected ? o->value : 0;
  case REPLACE:
    return s->value != 0 ? o->value : 0;
  case APPEND:
    return s->value != 0 ? content_join(s->value, o->value) : 0;
  case PREPEND:
    return s->value != 0 ? content_join(o->value, s->value) : 0;
  case INCR:
  case DECR:
    return s->value != 0 ? counted(o, s->value) : 0;
  default:
    return s->value;
  }
}

static void change(const operation *o, state *s, content value) {
  bool keeps = o->verb == APPEND || o->verb == PREPEND || o->verb == INCR || o->verb == DECR;
  if (o->verb == DELETE) {
    *s = (state){0};
    return;
  }
  s->value = value;
  s->expired = 0;
  s->touched = o->verb == TOUCH ? o->called : 0;
  if (!keeps)
    s->expires = o->exptime != 0 ? o->called : 0;
}

/* May a write take effect in this state? Then change the state. */
static bool alters(const operation *o, state *s) {
  content value = written(o, s);
  if (o->outcome == NOT_DONE)
    return s->value != 0 && (value == 0 || (o->verb == CAS && s->touched != 0));
  if (value != 0)
    change(o, s, value);
  return value != 0;
}

/* The same for the value that has expired; if its time remains, the changed one has expired, too.
 */
static bool alters_expired(const operation *o, state *s) {
  state changed = *s;
  changed.value = s->expired;
  if (s->expired == 0 || o->called > s->certain || !alters(o, &changed))
    return false;
  if (o->outcome == NOT_DONE)
    return true;
  if (changed.expires == s->expires)
    s->expired = changed.value;
  else
    *s = changed;
  return true;
}

/* May the operation take effect in this state? Then change the state. */
static bool applies(const operation *o, state *s) {
  if (o->verb == GET)
    return o->value == s->value;
  if (o->verb == EXPIRE && s->expires == o->when && s->value != 0)
    *s = (state){
        .expires = s->expires, .touched = s->touched, .expired = s->value, .certain = o->answered};
  if (o->verb == FLUSH)
    *s = (state){0};
  if (o->verb == EXPIRE || o->verb == FLUSH)
    return true;
  if (o->outcome == NOTHING)
    return s->value == 0;
  return alters(o, s) || alters_expired(o, s);
}

typedef struct search {
  const operation *of[LONGEST];
  unsigned count, answered;
  uint64_t visited[VISITED]; /* hashes; 0: free */
  unsigned filled;
} search;

typedef struct position {
  uint64_t ordered[LONGEST / 64];
  state state;
  uint64_t left; /* answered operations that have no place yet */
} position;

static bool is_ordered(const position *p, unsigned i) { return p->ordered[i / 64] >> i % 64 & 1; }

/* False: the position was visited before. */
static bool visit(search *s, const position *p) {
  uint64_t hash = XXH3_64bits(p, sizeof *p) | 1;
  size_t at = hash % VISITED;
  while (s->visited[at] != 0 && s->visited[at] != hash)
    at = (at + 1) % VISITED;
  if (s->visited[at] == hash)
    return false;
  s->visited[at] = hash;
  if (++s->filled > VISITED / 4 * 3)
    world_fail("key %d: too many orders to decide", s->of[0]->key);
  return true;
}

static bool explain(search *s, const position *p) {
  uint64_t earliest = UINT64_MAX;
  if (p->left == 0)
    return true;
  for (unsigned i = 0; i < s->count; i++)
    if (!is_ordered(p, i) && s->of[i]->answered < earliest)
      earliest = s->of[i]->answered;
  for (unsigned pass = 0; pass < 2; pass++) /* unanswered operations last: few are needed */
    for (unsigned i = 0; i < s->count; i++) {
      const operation *o = s->of[i];
      position next = *p;
      if ((o->outcome == UNKNOWN) != (pass == 1) || is_ordered(p, i) || o->called > earliest ||
          !applies(o, &next.state))
        continue;
      next.ordered[i / 64] |= UINT64_C(1) << i % 64;
      next.left -= o->outcome != UNKNOWN;
      if (visit(s, &next) && explain(s, &next))
        return true;
    }
  return false;
}

static void print(const search *s) {
  static const char *const verbs[] = {"get",     "set",       "add",     "cas",  "delete",
                                      "replace", "append",    "prepend", "incr", "decr",
                                      "touch",   "flush_all", "expire"};
  static const char *const outcomes[] = {"?", "done", "not done", "nothing"};
  for (unsigned i = 0; i < s->count; i++) {
    const operation *o = s->of[i];
    char text[64] = "";
    if (o->value != 0 && content_write(o->value, text, sizeof text) == 0)
      strcpy(text, "(long)");
    world_trace("%4llu to %4lld: %s %llu %.40s (%llu, %llu, %llu, %lld) %s",
                (unsigned long long)o->called, (long long)o->answered, verbs[o->verb],
                (unsigned long long)o->value, text, (unsigned long long)o->expected,
                (unsigned long long)o->number, (unsigned long long)o->when, (long long)o->exptime,
                outcomes[o->outcome]);
  }
}

/* Does it belong to the history of the key? */
static bool belongs(const operation *o, int key) {
  return (o->key == key || o->key == EVERY_KEY) && !o->refused &&
         !(o->verb == GET && o->outcome == UNKNOWN);
}

void history_check(int keys) {
  static search s;
  for (int key = 0; key < keys; key++) {
    position first = {0};
    memset(&s, 0, sizeof s);
    for (const operation *o = all; o != NULL; o = o->next) {
      if (!belongs(o, key))
        continue;
      if (s.count == LONGEST)
        world_fail("key %d has too many operations", key);
      s.of[s.count++] = o;
      first.left += o->outcome != UNKNOWN;
      world_counts.unknown += o->outcome == UNKNOWN;
    }
    if (explain(&s, &first))
      continue;
    print(&s);
    world_fail("key %d: its history is not linearizable", key);
  }
}
