#include "memory.h"

#include "common/report.h"
#include "wire.h"

#include <inttypes.h>
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY = 1 + 16, PAGE = 1 << 20 };

typedef struct memory {
  shelf shelf;
  char *socket;
  unsigned timeout_ms;
  memcached_st *client; /* NULL: not connected */
  int watch; /* a connection without traffic, which becomes readable when memcached goes down */
  wire_keys *keys; /* the list that is being made; NULL: none */
} memory;

static memory *of(shelf *s) { return (memory *)s; }

static void end_list(memory *k) {
  wire_keys_close(k->keys);
  k->keys = NULL;
}

static void memory_disconnect(shelf *s) {
  memory *k = of(s);
  end_list(k);
  memcached_free(k->client);
  k->client = NULL;
  if (k->watch >= 0)
    close(k->watch);
  k->watch = -1;
}

static void memory_destroy(shelf *s) {
  memory_disconnect(s);
  free(of(s)->socket);
  free(s);
}

static bool memory_connected(const shelf *s) { return ((const memory *)s)->client != NULL; }

static int memory_watch(const shelf *s) { return ((const memory *)s)->watch; }

static kept_status gone(memory *k, const char *why) {
  snprintf(k->shelf.reason, sizeof k->shelf.reason, "memcached does not answer: %s", why);
  memory_disconnect(&k->shelf);
  return KEPT_GONE;
}

/* The watched connection is readable. */
static kept_status memory_turn(shelf *s) { return gone(of(s), "it has closed the connection"); }

/* Translate a return code of libmemcached. Any code that does not prove that memcached is running
 * and has understood counts as KEPT_GONE. */
static kept_status judge(memory *k, memcached_return_t code) {
  switch (code) {
  case MEMCACHED_SUCCESS:
    return KEPT_OK;
  case MEMCACHED_NOTFOUND:
    snprintf(k->shelf.reason, sizeof k->shelf.reason, "not in memcached");
    return KEPT_MISSING;
  case MEMCACHED_E2BIG:
    snprintf(k->shelf.reason, sizeof k->shelf.reason, "larger than memcached's largest item");
    return KEPT_TOO_LARGE;
  case MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE:
    snprintf(k->shelf.reason, sizeof k->shelf.reason, "memcached is full");
    return KEPT_FULL;
  default:
    return gone(k, memcached_strerror(k->client, code));
  }
}

static kept_status memory_connect(shelf *s) {
  memory *k = of(s);
  if (k->client != NULL)
    return KEPT_OK;
  k->watch = wire_connect(k->socket, k->timeout_ms);
  if (k->watch < 0)
    return gone(k, "no connection");
  bool evicts;
  if (!wire_evicts(k->watch, &evicts))
    return gone(k, "no settings");
  if (evicts) {
    memory_disconnect(&k->shelf);
    snprintf(k->shelf.reason, sizeof k->shelf.reason,
             "memcached may evict chunks; start it with -M");
    return KEPT_DAMAGED;
  }
  k->client = memcached_create(NULL);
  if (k->client == NULL ||
      memcached_server_add_unix_socket(k->client, k->socket) != MEMCACHED_SUCCESS)
    return gone(k, "out of memory");
  memcached_behavior_set(k->client, MEMCACHED_BEHAVIOR_POLL_TIMEOUT, k->timeout_ms);
  memcached_behavior_set(k->client, MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT, k->timeout_ms);
  return KEPT_OK;
}

/* The key of an item: "node", or the letter and 16 hexadecimal digits. */
static size_t name(char key[KEY + 1], shelf_kind kind, uint64_t version) {
  if (kind == SHELF_NODE)
    return (size_t)snprintf(key, KEY + 1, "node");
  return (size_t)snprintf(key, KEY + 1, "%c%016" PRIx64, kind, version);
}

static kept_status try_to_put(memory *k, const change *c) {
  char key[KEY + 1];
  size_t length = name(key, c->kind, c->version);
  return judge(k, memcached_set(k->client, key, length, (const char *)c->bytes, c->length, 0, 0));
}

/* A full memcached may have room for items of other sizes. An item of more than half a page is
 * stored in parts, the first and the last one in pages of their own. The lost memory may have had
 * more pages than this one, since memcached gives each size its first page beyond its limit: which
 * sizes that are depends on the order of the writes. */
static kept_status put(memory *k, const change *c) {
  const size_t pages = 1 + 3 * c->length / PAGE;
  kept_status status = try_to_put(k, c);
  if (status == KEPT_FULL && wire_make_room(k->socket, pages, k->timeout_ms))
    status = try_to_put(k, c);
  if (status == KEPT_FULL && c->exists && wire_add_room(k->socket, pages, k->timeout_ms))
    status = try_to_put(k, c);
  return status;
}

static kept_status forget(memory *k, shelf_kind kind, uint64_t version) {
  char key[KEY + 1];
  name(key, kind, version);
  kept_status status = judge(k, memcached_delete(k->client, key, strlen(key), 0));
  return status == KEPT_MISSING ? KEPT_OK : status;
}

static kept_status change_now(memory *k, const change *c) {
  if (c->type != CHANGE_NONE && k->client == NULL)
    return gone(k, "no connection");
  kept_status status = KEPT_OK;
  if (c->type == CHANGE_WIPE && (status = judge(k, memcached_flush(k->client, 0))) == KEPT_OK)
    (void)wire_reclaim(k->socket, k->timeout_ms); /* else later, when their memory is needed */
  if (status == KEPT_OK && (c->type == CHANGE_PUT || c->type == CHANGE_WIPE))
    status = put(k, c);
  if (status == KEPT_FULL && c->type == CHANGE_WIPE)
    return gone(k, "it has deleted all items, but is full");
  if (c->type != CHANGE_FORGET)
    return status;
  status = forget(k, SHELF_RECORD, c->version);
  return status == KEPT_OK && c->kind == SHELF_CHUNK ? forget(k, SHELF_CHUNK, c->version) : status;
}

static void memory_apply(shelf *s, const change *c) {
  c->ticket.done(s->owner, &c->ticket, change_now(of(s), c));
}

static kept_status memory_get(shelf *s, shelf_kind kind, uint64_t version, uint8_t **bytes,
                              size_t *length) {
  char key[KEY + 1];
  memory *k = of(s);
  uint32_t flags;
  memcached_return_t code;
  size_t key_length = name(key, kind, version);
  if (k->client == NULL)
    return gone(k, "no connection");
  *bytes = (uint8_t *)memcached_get(k->client, key, key_length, length, &flags, &code);
  return judge(k, code);
}

static void note(void *owner, const char *key, size_t length) {
  char text[KEY + 1], *end;
  if (length != KEY || (key[0] != SHELF_CHUNK && key[0] != SHELF_RECORD))
    return;
  memcpy(text, key, KEY);
  text[KEY] = '\0';
  uint64_t version = strtoull(text + 1, &end, 16);
  if (*end == '\0')
    kept_list_add(owner, (shelf_kind)key[0], version);
}

static kept_status memory_list(shelf *s, kept_list *list) {
  memory *k = of(s);
  if (k->client == NULL)
    return gone(k, "no connection");
  if (!list->begun) {
    end_list(k);
    k->keys = wire_keys_open(k->socket, k->timeout_ms);
  }
  list->begun = true;
  if (k->keys == NULL || !wire_keys_next(k->keys, note, list, &list->complete) || list->incomplete)
    return gone(k, "its keys cannot be listed");
  if (list->complete)
    end_list(k);
  return KEPT_OK;
}

static const shelf_type type = {memory_connect, memory_connected, memory_disconnect,
                                memory_watch,   memory_turn,      memory_apply,
                                memory_get,     memory_list,      memory_destroy};

shelf *memory_create(const char *socket, unsigned timeout_ms, void *owner) {
  memory *k = calloc(1, sizeof *k);
  if (k == NULL || (k->socket = strdup(socket)) == NULL)
    out_of_memory();
  k->shelf = (shelf){.type = &type, .owner = owner};
  k->timeout_ms = timeout_ms;
  k->watch = -1;
  return &k->shelf;
}
