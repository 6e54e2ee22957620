#include "command.h"

#include "common/fault.h"
#include "confirm.h"
#include "flush.h"
#include "index.h"
#include "lock.h"
#include "login.h"
#include "read.h"
#include "recover.h"
#include "stats.h"
#include "write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RELATIVE_MAX = 60 * 60 * 24 * 30 }; /* seconds; a larger number is an absolute time */

static entry *find(const client *c) {
  entry *e = index_find(c->agent, c->request.key, c->request.key_bytes);
  return e == NULL || index_expired(e) ? NULL : e;
}

/* Are the keys still unknown? Then answer that. */
static bool unknown(client *c) {
  char reason[AGENT_REASON];
  if (!recover_waits(c->agent, reason))
    return false;
  c->agent->counters.refused++;
  client_answer(c, "SERVER_ERROR %s", reason);
  return true;
}

/* ---- get, gets --------------------------------------------------------------------------- */

static void get_key(client *c);

static void on_misses_confirmed(void *owner, const char *reason) {
  client *c = owner;
  if (reason != NULL) {
    c->agent->counters.refused++;
    client_answer(c, "SERVER_ERROR %s", reason);
  } else {
    client_answer(c, "END");
  }
  client_over(c);
}

static void end_get(client *c) {
  if (c->missed)
    confirm_begin(c->agent, on_misses_confirmed, c);
  else
    on_misses_confirmed(c, NULL);
}

static void on_value(void *owner, stripe *value, const char *reason) {
  client *c = owner;
  const entry *e = find(c);
  if (reason != NULL) {
    c->agent->counters.refused++;
    client_answer(c, "SERVER_ERROR %s", reason);
    client_over(c);
    return;
  }
  if (value == NULL || e == NULL) { /* replaced or removed in the meantime */
    stripe_free(value);
    get_key(c);
    return;
  }
  c->agent->counters.hits++;
  client_send_value(c, &e->record, value);
  if (parse_next_key(&c->request)) {
    client_when_sent(c, get_key);
    return;
  }
  end_get(c);
}

static void on_deletion_over(void *owner) {
  client *c = owner;
  lock_release(c->agent, c->request.key, c->request.key_bytes);
  get_key(c);
}

static void wait_for_deletion(client *c) {
  if (lock_take_next(c->agent, c->request.key, c->request.key_bytes, on_deletion_over, c))
    return;
  c->agent->counters.refused++;
  client_answer(c, "SERVER_ERROR %s", no_memory);
  client_over(c);
}

static void get_key(client *c) {
  if (client_is_gone(c)) {
    client_over(c);
    return;
  }
  do {
    const entry *e = find(c);
    if (e == NULL && lock_hides(c->agent, c->request.key, c->request.key_bytes)) {
      wait_for_deletion(c);
      return;
    }
    c->agent->counters.gets++;
    if (e != NULL) {
      read_begin(c->agent, e, on_value, c);
      return;
    }
    c->missed = true;
  } while (parse_next_key(&c->request));
  end_get(c);
}

/* ---- set and the like ----------------------------------------------------------------------- */

static int64_t expires(int64_t exptime) {
  if (exptime == 0)
    return 0;
  if (exptime < 0)
    return 1; /* in the past */
  return exptime <= RELATIVE_MAX ? (int64_t)time(NULL) + exptime : exptime;
}

/* Answer, release the lock of the key, and end the command. */
static void end_locked(client *c, const char *answer) {
  char key[RECORD_KEY_MAX];
  size_t bytes = c->request.key_bytes;
  memcpy(key, c->request.key, bytes);
  client_answer(c, "%s", answer);
  agent *a = c->agent;
  client_over(c);
  lock_release(a, key, bytes);
}

static void on_stored(void *owner, const char *reason) {
  client *c = owner;
  char answer[AGENT_REASON + 16];
  if (reason != NULL) {
    c->agent->counters.refused++;
    snprintf(answer, sizeof answer, "SERVER_ERROR %s", reason);
  } else if (c->request.verb == VERB_INCR || c->request.verb == VERB_DECR) {
    snprintf(answer, sizeof answer, "%" PRIu64, c->request.number);
  } else {
    strcpy(answer, c->request.verb == VERB_TOUCH ? "TOUCHED" : "STORED");
  }
  end_locked(c, answer);
}

static void store(client *c, stripe *value, uint32_t flags, int64_t when) {
  record r = {.flags = flags, .expires = when, .key_bytes = (uint8_t)c->request.key_bytes};
  memcpy(r.key, c->request.key, c->request.key_bytes);
  c->agent->counters.sets++;
  (void)fault_point("set.begin");
  write_begin(c->agent, &r, value, on_stored, c);
}

/* For append and prepend: both values concatenated. */
static stripe *joined(client *c, const stripe *old) {
  const stripe *first = c->request.verb == VERB_APPEND ? old : c->value;
  const stripe *second = c->request.verb == VERB_APPEND ? c->value : old;
  stripe *both = stripe_new(c->agent, first->length + second->length);
  if (both != NULL) {
    memcpy(both->bytes, first->bytes, first->length);
    memcpy(both->bytes + first->length, second->bytes, second->length);
  }
  return both;
}

/* For incr and decr: the new number, from the old one. */
static stripe *counted(client *c, uint64_t n) {
  char text[24];
  uint64_t by = c->request.number;
  c->request.number = c->request.verb == VERB_INCR ? n + by : n > by ? n - by : 0;
  int bytes = snprintf(text, sizeof text, "%" PRIu64, c->request.number);
  stripe *value = stripe_new(c->agent, (uint64_t)bytes);
  if (value != NULL)
    memcpy(value->bytes, text, (size_t)bytes);
  return value;
}

static void on_old_value(void *owner, stripe *old, const char *reason) {
  client *c = owner;
  const entry *e = find(c);
  char answer[AGENT_REASON + 16];
  if (reason != NULL || old == NULL || e == NULL) {
    snprintf(answer, sizeof answer, "SERVER_ERROR %s", reason != NULL ? reason : "it has expired");
    stripe_free(old);
    end_locked(c, answer);
    return;
  }
  uint32_t flags = e->record.flags;
  int64_t when = e->record.expires;
  bool counts = c->request.verb == VERB_INCR || c->request.verb == VERB_DECR;
  uint64_t n = 0;
  if (c->request.verb == VERB_TOUCH) {
    store(c, old, flags, expires(c->request.exptime));
    return;
  }
  if (counts && !parse_counter(old->bytes, old->length, &n)) {
    stripe_free(old);
    end_locked(c, "CLIENT_ERROR cannot increment or decrement non-numeric value");
    return;
  }
  stripe *value = counts ? counted(c, n) : joined(c, old);
  stripe_free(old);
  if (value == NULL)
    end_locked(c, "SERVER_ERROR out of memory storing object");
  else if (value->length > c->agent->value_max) {
    stripe_free(value);
    end_locked(c, "SERVER_ERROR object too large for cache");
  } else
    store(c, value, flags, when);
}

/* The answer if the command has no effect, or NULL. */
static const char *condition(const client *c, const entry *e) {
  switch (c->request.verb) {
  case VERB_ADD:
    return e != NULL ? "NOT_STORED" : NULL;
  case VERB_REPLACE:
  case VERB_APPEND:
  case VERB_PREPEND:
    return e == NULL ? "NOT_STORED" : NULL;
  case VERB_CAS:
    if (e != NULL)
      return e->record.version != c->request.number ? "EXISTS" : NULL;
    return "NOT_FOUND";
  case VERB_SET:
    return NULL;
  default:
    return e == NULL ? "NOT_FOUND" : NULL;
  }
}

static void on_deleted(void *owner, const char *reason) {
  char answer[AGENT_REASON + 16] = "DELETED";
  if (reason != NULL)
    snprintf(answer, sizeof answer, "SERVER_ERROR %s", reason);
  end_locked(owner, answer);
}

static void on_condition_confirmed(void *owner, const char *reason) {
  client *c = owner;
  char answer[AGENT_REASON + 16];
  if (reason != NULL)
    c->agent->counters.refused++;
  snprintf(answer, sizeof answer, "%s%s", reason == NULL ? "" : "SERVER_ERROR ",
           reason == NULL ? c->answer : reason);
  end_locked(c, answer);
}

/* The command holds the lock of the key until end_locked. */
static void on_lock(void *owner) {
  client *c = owner;
  const entry *e = find(c);
  c->answer = condition(c, e);
  if (c->answer != NULL) {
    confirm_begin(c->agent, on_condition_confirmed, c);
    return;
  }
  switch (c->request.verb) {
  case VERB_DELETE:
    c->agent->counters.deletes++;
    remove_begin(c->agent, e, on_deleted, c);
    break;
  case VERB_APPEND:
  case VERB_PREPEND:
  case VERB_INCR:
  case VERB_DECR:
  case VERB_TOUCH:
    read_begin(c->agent, e, on_old_value, c);
    break;
  default: {
    stripe *value = c->value;
    c->value = NULL;
    store(c, value, c->request.flags, expires(c->request.exptime));
  }
  }
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void on_flushed(void *owner, const char *reason) {
  client *c = owner;
  if (reason != NULL)
    client_answer(c, "SERVER_ERROR %s", reason);
  else
    client_answer(c, "OK");
  client_over(c);
}

static void run_key(client *c) {
  if (unknown(c))
    client_over(c);
  else if (c->request.verb == VERB_GET || c->request.verb == VERB_GETS)
    get_key(c);
  else if (!lock_take(c->agent, c->request.key, c->request.key_bytes, on_lock, c)) {
    c->agent->counters.refused++;
    client_answer(c, "SERVER_ERROR %s", no_memory);
    client_over(c);
  }
}

void command_run(client *c) {
  c->missed = false;
  if (!login_done(c))
    return;
  switch (c->request.verb) {
  case VERB_STATS:
    stats_answer(c);
    client_over(c);
    break;
  case VERB_VERSION:
    client_answer(c, "VERSION 1.6.18-gfsmith");
    client_over(c);
    break;
  case VERB_VERBOSITY:
    client_answer(c, "OK");
    client_over(c);
    break;
  case VERB_FLUSH_ALL:
    flush_begin(c->agent, on_flushed, c);
    break;
  case VERB_QUIT:
    client_quit(c);
    break;
  default:
    run_key(c);
  }
}
