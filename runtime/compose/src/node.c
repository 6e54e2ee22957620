#include "node.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "operations.h"
#include "status.h"

enum { WAITING_MAX = 16 << 20, TIME_MAX = 86400000 };

void gfsmith_node_defaults(gfsmith_node_options *options) {
  *options = (gfsmith_node_options){.size = sizeof *options,
                                    .provider = "tcp",
                                    .host = "127.0.0.1",
                                    .deadline_ms = 30000,
                                    .connect_ms = 2000,
                                    .memory = (size_t)1 << 30};
}

static bool time_allowed(const char *name, unsigned ms, char *reason) {
  if (ms >= 1 && ms <= TIME_MAX)
    return true;
  gfc_words(reason, "%s = %u; allowed: 1 to %d", name, ms, TIME_MAX);
  return false;
}

static bool key_allowed(const uint8_t *key, size_t bytes) {
  return key != NULL && bytes >= GFSMITH_KEY_MIN && bytes <= GFSMITH_KEY_MAX;
}

static bool allowed(const gfsmith_node_options *options, char *reason) {
  if (options->size != sizeof *options)
    gfc_words(reason, "size = %zu; allowed: %zu, as written by gfsmith_node_defaults",
              options->size, sizeof *options);
  else if (options->provider == NULL || options->host == NULL)
    gfc_words(reason, "%s: none is given", options->host == NULL ? "host" : "provider");
  else if (options->rank >= GFSMITH_RANKS_MAX)
    gfc_words(reason, "rank = %u; allowed: 0 to %d", options->rank, GFSMITH_RANKS_MAX - 1);
  else if (!key_allowed(options->key, options->key_bytes))
    gfc_words(reason, "key: %zu bytes; allowed: %d to %d",
              options->key == NULL ? (size_t)0 : options->key_bytes, GFSMITH_KEY_MIN,
              GFSMITH_KEY_MAX);
  else
    return time_allowed("deadline_ms", options->deadline_ms, reason) &&
           time_allowed("connect_ms", options->connect_ms, reason);
  return false;
}

static int open_node(gfsmith_node *node, const gfsmith_node_options *options, char *reason) {
  if (!gfc_handshake_init()) {
    gfc_words(reason, "no source of random bytes");
    return GFSMITH_EFABRIC;
  }
  int status = gfc_engine_create(&node->engine, options, reason);
  if (status != GFSMITH_OK)
    return status;
  node->rank = options->rank;
  return gfc_operations_create(&node->operations, node->engine, options);
}

static void close_node(gfsmith_node *node) {
  gfc_operations_destroy(node->operations);
  if (node->engine != NULL)
    gfc_engine_destroy(node->engine);
  free(node);
}

int gfsmith_node_create(gfsmith_node **out, const gfsmith_node_options *options, char *reason) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  gfc_words(reason, "no memory");
  if (options == NULL || !allowed(options, reason)) {
    if (options == NULL)
      gfc_words(reason, "options: NULL");
    return GFSMITH_EINVAL;
  }
  gfsmith_node *node = calloc(1, sizeof *node);
  if (node == NULL)
    return GFSMITH_ENOMEM;
  int status = open_node(node, options, reason);
  if (status == GFSMITH_OK) {
    *out = node; /* before the engine calls a handler */
    status = gfc_engine_start(node->engine, &gfc_operations_events, node->operations);
  }
  if (status != GFSMITH_OK) {
    *out = NULL;
    close_node(node);
    return status;
  }
  gfc_words(reason, "%s", "");
  return GFSMITH_OK;
}

void gfsmith_node_destroy(gfsmith_node *node) {
  int cancel;
  if (node == NULL)
    return;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  gfc_engine_stop(node->engine);
  close_node(node);
  pthread_setcancelstate(cancel, NULL);
}

uint16_t gfsmith_node_rank(const gfsmith_node *node) { return node->rank; }
uint16_t gfsmith_node_port(const gfsmith_node *node) { return node->engine->port; }
bool gfsmith_node_triggers(const gfsmith_node *node) { return gfc_can_trigger(node->engine); }

bool gfsmith_node_connected(const gfsmith_node *node, uint16_t rank) {
  return gfc_connected(node->engine, rank);
}

int gfsmith_node_trouble(const gfsmith_node *node, uint16_t rank, char *reason) {
  return gfc_trouble(node->engine, rank, reason);
}

/* The arguments of gfsmith_node_peer, for the engine's thread. */
typedef struct naming {
  gfc_peer *peer;
  struct sockaddr_storage address;
} naming;

static void name_peer(void *observer, void *context) {
  (void)observer;
  naming *named = context;
  gfc_peer_address(named->peer, &named->address);
  free(named);
}

int gfsmith_node_peer(gfsmith_node *node, uint16_t rank, const char *host, uint16_t port) {
  struct sockaddr_storage address;
  if (rank == node->rank || rank >= GFSMITH_RANKS_MAX || port == 0 ||
      !gfc_address(&address, host, port))
    return GFSMITH_EINVAL;
  gfc_peer *peer = gfc_peer_get(&node->engine->peers, rank);
  naming *named = peer == NULL ? NULL : malloc(sizeof *named);
  if (named == NULL)
    return GFSMITH_ENOMEM;
  *named = (naming){.peer = peer, .address = address};
  int status = gfc_run(node->engine, name_peer, named);
  if (status != GFSMITH_OK)
    free(named);
  return status;
}

/* The arguments of gfsmith_node_send, for the engine's thread. */
typedef struct sending {
  gfc_peer *peer;
  size_t length;
  uint8_t bytes[];
} sending;

static void send_message(void *observer, void *context) {
  (void)observer;
  sending *sent = context;
  gfc_peer *peer = sent->peer;
  gfc_channel *channel = gfc_peer_channel(peer->all, peer->rank);
  if (channel == NULL)
    atomic_fetch_sub(&peer->waiting, sent->length);
  else if (gfc_channel_send(channel, GFC_MESSAGE, sent->bytes, sent->length, &peer->waiting) !=
           GFSMITH_OK) {
    atomic_fetch_sub(&peer->waiting, sent->length);
    gfc_channel_fail(channel, GFSMITH_ENOMEM, "out of memory for a message");
  }
  free(sent);
}

int gfsmith_node_send(gfsmith_node *node, uint16_t rank, const void *bytes, size_t length) {
  gfc_peer *peer = gfc_peer_find(&node->engine->peers, rank);
  if (bytes == NULL || length == 0 || length > GFSMITH_MESSAGE_MAX)
    return GFSMITH_EINVAL;
  if (peer == NULL || !atomic_load(&peer->up))
    return GFSMITH_EPEER;
  sending *sent = malloc(sizeof *sent + length);
  if (sent == NULL)
    return GFSMITH_ENOMEM;
  sent->peer = peer;
  sent->length = length;
  memcpy(sent->bytes, bytes, length);
  int status = GFSMITH_ELIMIT;
  if (atomic_fetch_add(&peer->waiting, length) <= WAITING_MAX)
    status = gfc_run(node->engine, send_message, sent);
  if (status != GFSMITH_OK) {
    atomic_fetch_sub(&peer->waiting, length);
    free(sent);
  }
  return status;
}

/* The arguments of gfsmith_node_rekey, for the engine's thread. */
typedef struct rekeying {
  gfc_peers *peers;
  gfc_key current, previous;
} rekeying;

static void rekey(void *observer, void *context) {
  (void)observer;
  rekeying *keys = context;
  gfc_peers_rekey(keys->peers, &keys->current, &keys->previous);
  atomic_fetch_sub(&keys->peers->rekeys, 1);
  sodium_memzero(keys, sizeof *keys);
  free(keys);
}

int gfsmith_node_rekey(gfsmith_node *node, const uint8_t *key, size_t key_bytes,
                       const uint8_t *previous, size_t previous_bytes) {
  if (!key_allowed(key, key_bytes) ||
      (previous_bytes != 0 && !key_allowed(previous, previous_bytes)))
    return GFSMITH_EINVAL;
  rekeying *keys = malloc(sizeof *keys);
  if (keys == NULL)
    return GFSMITH_ENOMEM;
  keys->peers = &node->engine->peers;
  gfc_key_set(&keys->current, key, key_bytes);
  gfc_key_set(&keys->previous, previous, previous_bytes);
  atomic_fetch_add(&keys->peers->rekeys, 1);
  int status = gfc_run(node->engine, rekey, keys);
  if (status != GFSMITH_OK) {
    atomic_fetch_sub(&keys->peers->rekeys, 1);
    sodium_memzero(keys, sizeof *keys);
    free(keys);
  }
  return status;
}

unsigned gfsmith_node_old_links(const gfsmith_node *node) {
  const gfc_peers *peers = &node->engine->peers;
  return atomic_load(&peers->rekeys) + atomic_load(&peers->old);
}

#ifdef GFSMITH_COMPOSE_FAULTS
/* ---- faults on purpose, for tests ---- */

typedef struct wish {
  gfc_peers *peers;
  int fault;
  unsigned after;
  unsigned ask, silent;
} wish;

static void set_fault(void *observer, void *context) {
  (void)observer;
  wish *wished = context;
  wished->peers->faults = (gfc_faults){.fault = wished->fault, .after = wished->after};
  free(wished);
}

static void set_patience(void *observer, void *context) {
  (void)observer;
  wish *wished = context;
  wished->peers->ask_ms = wished->ask;
  wished->peers->silent_ms = wished->silent;
  free(wished);
}

static int run(gfsmith_node *node, void (*work)(void *, void *), const wish *values) {
  wish *wished = malloc(sizeof *wished);
  if (wished == NULL)
    return GFSMITH_ENOMEM;
  *wished = *values;
  wished->peers = &node->engine->peers;
  int status = gfc_run(node->engine, work, wished);
  if (status != GFSMITH_OK)
    free(wished);
  return status;
}

int gfsmith_node_fault(gfsmith_node *node, int fault, unsigned after) {
  return run(node, set_fault, &(wish){.fault = fault, .after = after});
}

int gfsmith_node_patience(gfsmith_node *node, unsigned ask, unsigned silent) {
  return run(node, set_patience, &(wish){.ask = ask, .silent = silent});
}
#endif
