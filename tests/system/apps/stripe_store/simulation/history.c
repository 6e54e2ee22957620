/* Wing and Gong's search with Lowe's memory of the states that were visited. */
#include "history.h"

#include "world.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { LONGEST = 256, VISITED = 1 << 18 };

static operation *all, **last = &all;
static uint64_t moment;

operation *history_begin(operation o) {
  operation *made = world_new(sizeof *made);
  *made = o;
  made->called = ++moment;
  made->answered = UINT64_MAX;
  made->outcome = UNKNOWN;
  *last = made;
  last = &made->next;
  world_counts.operations++;
  return made;
}

void history_end(operation *o, outcome result) {
  o->outcome = result;
  if (result != UNKNOWN)
    o->answered = ++moment;
}

unsigned history_unknown(unsigned key) {
  unsigned count = 0;
  for (const operation *o = all; o != NULL; o = o->next)
    count += o->key == key && o->outcome == UNKNOWN && o->verb != GET && !o->refused;
  return count;
}

/* May the operation take effect in this state? Then change the state. */
static bool applies(const operation *o, uint64_t *state) {
  bool effect = false;
  switch (o->verb) {
  case GET:
    return o->value == *state;
  case SET:
    effect = true;
    break;
  case ADD:
    effect = *state == 0;
    break;
  case CAS:
    effect = *state == o->expected && *state != 0;
    break;
  case DELETE:
    effect = *state != 0;
    break;
  }
  if (o->outcome == NOTHING)
    return *state == 0;
  if (o->outcome == NOT_DONE)
    return !effect && *state != 0;
  if (effect)
    *state = o->verb == DELETE ? 0 : o->value;
  return effect;
}

typedef struct search {
  const operation *of[LONGEST];
  unsigned count, answered;
  uint64_t visited[VISITED]; /* hashes; 0: free */
  unsigned filled;
} search;

typedef struct position {
  uint64_t ordered[LONGEST / 64];
  uint64_t state;
  unsigned left; /* answered operations that have no place yet */
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
    world_fail("key %u: too many orders to decide", s->of[0]->key);
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
  static const char *const verbs[] = {"get", "set", "add", "cas", "delete"};
  static const char *const outcomes[] = {"?", "done", "not done", "nothing"};
  for (unsigned i = 0; i < s->count; i++) {
    const operation *o = s->of[i];
    world_trace("%4llu to %4lld: %s %llu (%llu) %s", (unsigned long long)o->called,
                (long long)o->answered, verbs[o->verb], (unsigned long long)o->value,
                (unsigned long long)o->expected, outcomes[o->outcome]);
  }
}

void history_check(unsigned keys) {
  static search s;
  for (unsigned key = 0; key < keys; key++) {
    position first = {0};
    memset(&s, 0, sizeof s);
    for (const operation *o = all; o != NULL; o = o->next) {
      if (o->key != key || o->refused || (o->verb == GET && o->outcome == UNKNOWN))
        continue;
      if (s.count == LONGEST)
        world_fail("key %u has too many operations", key);
      s.of[s.count++] = o;
      first.left += o->outcome != UNKNOWN;
      world_counts.unknown += o->outcome == UNKNOWN;
    }
    if (explain(&s, &first))
      continue;
    print(&s);
    world_fail("key %u: its history is not linearizable", key);
  }
}
