#include "memcached.h"

#include "chunk/item.h"
#include "chunk/wire.h"
#include "common/record.h"
#include "network.h"

#include <errno.h>
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>

enum { DESCRIPTORS = 4096, KEYS = 3 };

typedef enum order_kind { ORDER_SET, ORDER_GET, ORDER_DELETE, ORDER_FLUSH } order_kind;

typedef struct item {
  char key[24];
  uint8_t *bytes;
  size_t length;
  bool damaged;
  struct item *next;
} item;

typedef struct store {
  bool runs, paused, full;
  unsigned generation;
  item *items, *remembered;
  struct order *delayed; /* that arrived while it was paused, the last one first */
} store;

typedef struct order {
  order_kind kind;
  unsigned rank, generation;
  char key[24];
  const void *bytes;
  size_t length;
  const item *found;
  struct order *next;
} order;

/* A version that has lost too many chunks, while no other version of its key had enough. */
typedef struct excuse {
  uint64_t version;
  struct excuse *next;
} excuse;

static store stores[MACHINES];
static unsigned enough;
static bool beyond, slow_lists;
static excuse *excuses;
static item *deleted_late; /* records; the agent, whose deletion has failed, may still know them */
static unsigned rank_of[DESCRIPTORS]; /* of the end of a connection in a chunk server */
static int other_end[DESCRIPTORS];

static const char *const names[] = {"set", "get", "delete", "flush"};

static item **find(store *s, const char *key) {
  item **at = &s->items;
  while (*at != NULL && strcmp((*at)->key, key) != 0)
    at = &(*at)->next;
  return at;
}

static memcached_return_t set(store *s, const order *o) {
  if (s->full)
    return MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE;
  item **at = find(s, o->key);
  item *made = world_new(sizeof *made);
  *made = (item){.bytes = world_new(o->length + 1), .length = o->length};
  strcpy(made->key, o->key);
  memcpy(made->bytes, o->bytes, o->length);
  made->next = *at == NULL ? NULL : (*at)->next;
  *at = made;
  return MEMCACHED_SUCCESS;
}

static memcached_return_t perform(order *o) {
  store *s = &stores[o->rank];
  item **at = find(s, o->key);
  world_trace("memcached-%u: %s %s %016" PRIx64, o->rank, names[o->kind], o->key,
              o->length > 0 ? XXH3_64bits(o->bytes, o->length) : 0);
  if (o->kind == ORDER_FLUSH) {
    s->items = NULL;
    return MEMCACHED_SUCCESS;
  }
  if (o->kind == ORDER_SET)
    return set(s, o);
  o->found = *at;
  if (*at == NULL)
    return MEMCACHED_NOTFOUND;
  if (o->kind == ORDER_DELETE)
    *at = (*at)->next;
  return MEMCACHED_SUCCESS;
}

static bool reaches(const order *o) {
  return stores[o->rank].runs && stores[o->rank].generation == o->generation;
}

/* Wait while it is paused, at most until `limit`. False: it still is. */
static bool wait_for(unsigned rank, uint64_t limit) {
  while (stores[rank].paused && world_now() < limit)
    process_sleep(MS);
  return !stores[rank].paused;
}

/* The order of a client that may not be there any more. */
static void on_delayed(void *what) {
  order *o = what;
  if (!reaches(o) || stores[o->rank].paused)
    return;
  perform(o);
  if (o->kind != ORDER_DELETE || o->key[0] != 'r' || o->found == NULL)
    return;
  item *copy = world_new(sizeof *copy);
  *copy = *o->found;
  copy->next = deleted_late;
  deleted_late = copy;
}

static void delay(const order *o) {
  order *copy = world_new(sizeof *copy);
  void *bytes = world_new(o->length + 1);
  if (o->length > 0)
    memcpy(bytes, o->bytes, o->length);
  *copy = *o;
  copy->bytes = bytes;
  copy->next = stores[o->rank].delayed;
  stores[o->rank].delayed = copy;
}

typedef struct client {
  memcached_st machine; /* the first member: libmemcached's type, of which nothing is used */
  unsigned rank, generation;
  bool connected;
  unsigned ms;
} client;

static memcached_return_t run(memcached_st *handle, order *o) {
  client *c = (client *)handle;
  store *s = &stores[c->rank];
  process_effect();
  if (!c->connected) {
    c->connected = s->runs;
    c->generation = s->generation;
  }
  o->rank = c->rank;
  o->generation = c->generation;
  process_sleep(world_between(5 * US, 100 * US));
  if (!reaches(o))
    return MEMCACHED_CONNECTION_FAILURE;
  if (!wait_for(c->rank, world_now() + c->ms * MS)) {
    delay(o);
    return MEMCACHED_TIMEOUT;
  }
  if (!reaches(o))
    return MEMCACHED_CONNECTION_FAILURE;
  memcached_return_t code = perform(o);
  process_sleep(world_between(5 * US, 100 * US));
  return reaches(o) ? code : MEMCACHED_CONNECTION_FAILURE;
}

/* ---- control --------------------------------------------------------------------------------- */

void memcached_begin(unsigned least, bool harsh) {
  enough = least;
  beyond = harsh;
}

static unsigned intact(const char *name) {
  unsigned count = 0;
  for (store *s = stores; s < stores + MACHINES; s++) {
    const item *i = *find(s, name);
    count += i != NULL && !i->damaged;
  }
  return count;
}

static bool of_key(const record *r, const char *key, size_t bytes) {
  return r->key_bytes == bytes && memcmp(r->key, key, bytes) == 0;
}

/* Call found(r, with) for each record among the items, until it returns true. */
static bool any_of(const item *i, bool (*found)(const record *r, const void *with),
                   const void *with) {
  for (; i != NULL; i = i->next) {
    record r;
    if (i->key[0] == 'r' && record_decode(&r, i->bytes, i->length) && found(&r, with))
      return true;
  }
  return false;
}

/* The same for each stored record. */
static bool any_record(bool (*found)(const record *r, const void *with), const void *with) {
  for (const store *s = stores; s < stores + MACHINES; s++)
    if (any_of(s->items, found, with))
      return true;
  return false;
}

/* Is it another version of the key, with enough chunks? */
static bool replaces(const record *r, const void *with) {
  const record *of = with;
  char name[24];
  snprintf(name, sizeof name, "c%016" PRIx64, r->version);
  return r->version != of->version && of_key(r, of->key, of->key_bytes) && intact(name) >= enough;
}

/* Is it the version, and does no other one replace it? */
static bool irreplaceable(const record *r, const void *with) {
  return r->version == *(const uint64_t *)with && !any_record(replaces, r);
}

/* A chunk of this name is about to be lost. */
static void lose_chunk(const char *name) {
  const uint64_t version = strtoull(name + 1, NULL, 16);
  if (intact(name) > enough)
    return;
  if (!beyond && !any_record(irreplaceable, &version))
    return; /* beyond the limit, any version may be, or become, the acknowledged one */
  excuse *e = world_new(sizeof *e);
  *e = (excuse){version, excuses};
  excuses = e;
}

static bool is_excused(const record *r, const void *key) {
  for (const excuse *e = excuses; e != NULL; e = e->next)
    if (e->version == r->version)
      return of_key(r, key, strlen(key));
  return false;
}

bool memcached_excuses(const char *key) {
  return any_record(is_excused, key) || any_of(deleted_late, is_excused, key);
}

void memcached_acknowledged(const char *key) {
  for (item **at = &deleted_late; *at != NULL;) {
    record r;
    if (record_decode(&r, (*at)->bytes, (*at)->length) && of_key(&r, key, strlen(key)))
      *at = (*at)->next;
    else
      at = &(*at)->next;
  }
}

void memcached_start(unsigned rank) {
  store *s = &stores[rank];
  *s = (store){.runs = true, .generation = s->generation + 1};
}

void memcached_kill(unsigned rank) {
  for (const item *i = stores[rank].items; i != NULL; i = i->next)
    if (i->key[0] == 'c' && !i->damaged)
      lose_chunk(i->key);
  stores[rank].runs = stores[rank].paused = false;
  stores[rank].items = NULL;
  for (int fd = 0; fd < DESCRIPTORS; fd++)
    if (rank_of[fd] == rank && other_end[fd] > 0) {
      close(other_end[fd]);
      other_end[fd] = 0;
    }
}

bool memcached_runs(unsigned rank) { return stores[rank].runs; }

bool memcached_down(void) {
  for (const store *s = stores; s < stores + MACHINES; s++)
    if (s->generation > 0 && !s->runs)
      return true;
  return false;
}

void memcached_pause(unsigned rank, bool paused) {
  store *s = &stores[rank];
  s->paused = paused;
  for (order *o = s->delayed; o != NULL && !paused; o = o->next)
    world_after(world_random(3 * MS), on_delayed, o);
  if (!paused)
    s->delayed = NULL;
}

void memcached_fill(unsigned rank, bool full) { stores[rank].full = full; }

static item *copied(const item *from) {
  item *all = NULL, **end = &all;
  for (; from != NULL; from = from->next, end = &(*end)->next) {
    *end = world_new(sizeof **end);
    **end = *from;
    (*end)->bytes = world_new(from->length + 1);
    memcpy((*end)->bytes, from->bytes, from->length);
  }
  *end = NULL;
  return all;
}

void memcached_remember(unsigned rank) { stores[rank].remembered = copied(stores[rank].items); }

bool memcached_restore(unsigned rank) {
  if (stores[rank].remembered == NULL)
    return false;
  stores[rank].items = copied(stores[rank].remembered);
  return true;
}

/* NULL: it has none. */
static item *any_chunk(unsigned rank) {
  unsigned count = 0;
  for (const item *i = stores[rank].items; i != NULL; i = i->next)
    count += i->key[0] == 'c';
  uint64_t chosen = world_random(count);
  for (item *i = stores[rank].items; i != NULL; i = i->next)
    if (i->key[0] == 'c' && chosen-- == 0)
      return i;
  return NULL;
}

static void damage(item *i) {
  if (!i->damaged)
    lose_chunk(i->key);
  size_t at = world_random(i->length);
  if (at < ITEM_HEADER) /* the end of the header is padding, in which nothing can be damaged */
    at %= 40;
  i->bytes[at] ^= (uint8_t)(1u << world_random(8));
  i->damaged = true;
}

bool memcached_damage(unsigned rank) {
  item *i = any_chunk(rank);
  if (i != NULL)
    damage(i);
  return i != NULL;
}

bool memcached_damage_value(unsigned count) {
  item *chosen = any_chunk(1);
  if (chosen == NULL || intact(chosen->key) < count)
    return false;
  for (unsigned rank = MACHINES - 1; rank > 0 && count > 0; rank--) {
    item *i = *find(&stores[rank], chosen->key);
    if (i != NULL && !i->damaged) {
      damage(i);
      count--;
    }
  }
  return true;
}

const char *memcached_incarnation(unsigned rank) {
  static char text[33];
  const item *node = *find(&stores[rank], "node");
  if (node == NULL || !stores[rank].runs)
    return NULL;
  snprintf(text, sizeof text, "%.32s", (const char *)node->bytes + 33); /* after the group */
  return text;
}

/* ---- chunk/wire.h ---------------------------------------------------------------------------- */

int wire_connect(const char *path, unsigned timeout_ms) {
  unsigned rank = (unsigned)atoi(strrchr(path, '-') + 1);
  int pair[2];
  (void)timeout_ms;
  if (!stores[rank].runs) {
    errno = ECONNREFUSED;
    return -1;
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    world_fail("no descriptors for the simulation");
  rank_of[pair[0]] = rank;
  other_end[pair[0]] = pair[1];
  return pair[0];
}

static bool answers(int fd) {
  process_sleep(world_between(5 * US, 100 * US));
  return wait_for(rank_of[fd], world_now() + 2 * SECOND) && stores[rank_of[fd]].runs;
}

bool wire_evicts(int fd, bool *evicts) {
  *evicts = false;
  return answers(fd);
}

/* The simulated memory has no pages. */
bool wire_make_room(const char *path, size_t pages, unsigned timeout_ms) {
  (void)path, (void)pages, (void)timeout_ms;
  return false;
}

bool wire_add_room(const char *path, size_t pages, unsigned timeout_ms) {
  (void)path, (void)pages, (void)timeout_ms;
  return false;
}

bool wire_reclaim(const char *path, unsigned timeout_ms) {
  (void)path, (void)timeout_ms;
  return true;
}

void memcached_list_slowly(void) { slow_lists = true; }

struct wire_keys {
  int fd;
  bool begun;
  const item *next;
};

wire_keys *wire_keys_open(const char *path, unsigned timeout_ms) {
  int fd = wire_connect(path, timeout_ms);
  wire_keys *k = fd < 0 ? NULL : world_new(sizeof *k);
  if (k != NULL)
    *k = (wire_keys){.fd = fd};
  return k;
}

bool wire_keys_next(wire_keys *k, void (*found)(void *owner, const char *key, size_t length),
                    void *owner, bool *end) {
  if (!answers(k->fd))
    return false;
  if (!k->begun)
    k->next = stores[rank_of[k->fd]].items;
  k->begun = true;
  for (unsigned n = 0; k->next != NULL && (!slow_lists || n < KEYS); n++, k->next = k->next->next)
    found(owner, k->next->key, strlen(k->next->key));
  *end = k->next == NULL;
  return true;
}

void wire_keys_close(wire_keys *k) {
  if (k != NULL)
    close(k->fd);
}

/* ---- libmemcached ---------------------------------------------------------------------------- */

memcached_st *memcached_create(memcached_st *none) {
  (void)none;
  client *c = world_new(sizeof *c);
  return &c->machine;
}

void memcached_free(memcached_st *handle) { (void)handle; }

memcached_return_t memcached_server_add_unix_socket(memcached_st *handle, const char *path) {
  ((client *)handle)->rank = (unsigned)atoi(strrchr(path, '-') + 1);
  return MEMCACHED_SUCCESS;
}

memcached_return_t memcached_behavior_set(memcached_st *handle, memcached_behavior_t flag,
                                          uint64_t value) {
  (void)flag; /* kept.c sets timeouts only */
  ((client *)handle)->ms = (unsigned)value;
  return MEMCACHED_SUCCESS;
}

const char *memcached_strerror(const memcached_st *handle, memcached_return_t code) {
  (void)handle;
  return code == MEMCACHED_TIMEOUT ? "timeout" : "connection failure";
}

static order of(order_kind kind, const char *key, size_t length) {
  order o = {.kind = kind};
  snprintf(o.key, sizeof o.key, "%.*s", (int)length, key);
  return o;
}

memcached_return_t memcached_set(memcached_st *handle, const char *key, size_t key_length,
                                 const char *value, size_t length, time_t expires, uint32_t flags) {
  (void)expires;
  (void)flags;
  order o = of(ORDER_SET, key, key_length);
  o.bytes = value;
  o.length = length;
  return run(handle, &o);
}

char *memcached_get(memcached_st *handle, const char *key, size_t key_length, size_t *length,
                    uint32_t *flags, memcached_return_t *code) {
  order o = of(ORDER_GET, key, key_length);
  *flags = 0;
  *code = run(handle, &o);
  if (*code != MEMCACHED_SUCCESS)
    return NULL;
  char *copy = malloc(o.found->length + 1);
  if (copy == NULL) {
    *code = MEMCACHED_MEMORY_ALLOCATION_FAILURE;
    return NULL;
  }
  memcpy(copy, o.found->bytes, o.found->length);
  *length = o.found->length;
  return copy;
}

memcached_return_t memcached_delete(memcached_st *handle, const char *key, size_t key_length,
                                    time_t expires) {
  (void)expires;
  order o = of(ORDER_DELETE, key, key_length);
  return run(handle, &o);
}

memcached_return_t memcached_flush(memcached_st *handle, time_t expires) {
  (void)expires;
  order o = of(ORDER_FLUSH, "", 0);
  return run(handle, &o);
}
