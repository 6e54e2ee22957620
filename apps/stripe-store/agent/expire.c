#include "expire.h"

#include "index.h"
#include "lock.h"
#include "node.h"
#include "recover.h"
#include "write.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS = 10000, REMOVALS = 256 }; /* at most, in a tick; at a time */

typedef struct removal {
  agent *agent;
  size_t key_bytes;
  char key[RECORD_KEY_MAX];
} removal;

static void end(removal *r) {
  agent *a = r->agent;
  a->expiring--;
  lock_release(a, r->key, r->key_bytes);
  free(r);
}

/* If it could not be removed, it will be tried again. */
static void on_removed(void *owner, const char *reason) {
  (void)reason;
  end(owner);
}

static void on_lock(void *owner) {
  removal *r = owner;
  const entry *e = index_find(r->agent, r->key, r->key_bytes);
  if (e != NULL && index_expired(e)) /* it may have been written in the meantime */
    remove_begin(r->agent, e, on_removed, r);
  else
    end(r);
}

static void begin(agent *a, const entry *e) {
  removal *r = malloc(sizeof *r);
  if (r == NULL)
    return;
  *r = (removal){.agent = a, .key_bytes = e->record.key_bytes};
  memcpy(r->key, e->record.key, r->key_bytes);
  a->expiring++;
  if (lock_take(a, r->key, r->key_bytes, on_lock, r))
    return;
  a->expiring--;
  free(r);
}

void expire_tick(agent *a) {
  char reason[AGENT_REASON];
  if (recover_waits(a, reason) || !nodes_writable(a, reason))
    return;
  if (a->look == NULL)
    a->look = a->by_key;
  for (unsigned n = 0; n < LOOKS && a->look != NULL && a->expiring < REMOVALS; n++) {
    const entry *e = a->look;
    a->look = e->by_key.next;
    if (index_expired(e))
      begin(a, e);
  }
}
