#include "lock.h"

#include "common/table.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

typedef struct waiting {
  lock_granted *granted;
  void *owner;
  struct waiting *next;
} waiting;

typedef struct lock {
  char key[RECORD_KEY_MAX];
  waiting *queue; /* the first one holds the lock, if `held` */
  bool held;
  bool hides;    /* lock_hide */
  bool granting; /* grant() runs */
  UT_hash_handle hh;
} lock;

/* Return the lock of a key, or NULL if it is free. */
static lock *find(const agent *a, const char *key, size_t bytes) {
  lock *l;
  HASH_FIND(hh, a->locks, key, bytes, l);
  return l;
}

/* Find or make the lock of a key. NULL: no memory. */
static lock *lock_of(agent *a, const char *key, size_t bytes) {
  lock *l = find(a, key, bytes);
  if (l != NULL)
    return l;
  if ((l = calloc(1, sizeof *l)) == NULL)
    return NULL;
  memcpy(l->key, key, bytes);
  HASH_ADD_KEYPTR(hh, a->locks, l->key, bytes, l);
  if (TABLE_HAS(l, hh))
    return l;
  free(l);
  return NULL;
}

/* Give the lock to the first one that waits, and so on while they release it at once. A call from
 * within leaves that to the outer one: many short commands need no stack. */
static void grant(agent *a, lock *l) {
  if (l->granting)
    return;
  l->granting = true;
  while (l->queue != NULL && !l->held) {
    l->held = true;
    l->queue->granted(l->queue->owner);
  }
  l->granting = false;
  if (l->queue != NULL)
    return;
  HASH_DEL(a->locks, l);
  free(l);
}

bool lock_take(agent *a, const char *key, size_t bytes, lock_granted *granted, void *owner) {
  waiting *w = malloc(sizeof *w);
  lock *l = w == NULL ? NULL : lock_of(a, key, bytes);
  if (l == NULL) {
    free(w);
    return false;
  }
  *w = (waiting){.granted = granted, .owner = owner};
  LL_APPEND(l->queue, w);
  grant(a, l);
  return true;
}

bool lock_take_next(agent *a, const char *key, size_t bytes, lock_granted *granted, void *owner) {
  lock *l = find(a, key, bytes);
  waiting *w = malloc(sizeof *w);
  if (w == NULL)
    return false;
  *w = (waiting){granted, owner, l->queue->next};
  l->queue->next = w;
  return true;
}

void lock_hide(agent *a, const char *key, size_t bytes) { find(a, key, bytes)->hides = true; }

bool lock_hides(const agent *a, const char *key, size_t bytes) {
  const lock *l = find(a, key, bytes);
  return l != NULL && l->hides;
}

void lock_release(agent *a, const char *key, size_t bytes) {
  lock *l = find(a, key, bytes);
  waiting *w = l->queue;
  LL_DELETE(l->queue, w);
  free(w);
  l->held = l->hides = false;
  grant(a, l);
}

void locks_free(agent *a) {
  lock *l, *next;
  waiting *w, *after;
  HASH_ITER(hh, a->locks, l, next) {
    LL_FOREACH_SAFE(l->queue, w, after) { free(w); }
    HASH_DEL(a->locks, l);
    free(l);
  }
}
