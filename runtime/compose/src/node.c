#include "node.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { WAITING_MAX = 16 << 20, TIME_MAX = 86400000 };

void gfsmith_node_defaults(gfsmith_node_options *options) {
  *options = (gfsmith_node_options){.size = sizeof *options,
                                    .provider = "tcp",
                                    .host = "127.0.0.1",
                                    .deadline_ms = 30000,
                                    .connect_ms = 2000,
                                    .memory = (size_t)1 << 30,
                                    .triggers = true};
}

static bool time_allowed(const char *name, unsigned ms, char *reason) {
  if (ms >= 1 && ms <= TIME_MAX)
    return true;
  gfc_words(reason, "%s: %u, allowed are 1 to %d", name, ms, TIME_MAX);
  return false;
}

static bool allowed(const gfsmith_node_options *options, char *reason) {
  if (options->size != sizeof *options)
    gfc_words(reason, "size: %zu, gfsmith_node_defaults writes %zu", options->size,
              sizeof *options);
  else if (options->provider == NULL || options->host == NULL)
    gfc_words(reason, "%s: none is named", options->host == NULL ? "host" : "provider");
  else if (options->rank >= GFSMITH_RANKS_MAX)
    gfc_words(reason, "rank: %u, allowed are 0 to %d", options->rank, GFSMITH_RANKS_MAX - 1);
  else if (options->key == NULL || options->key_bytes < GFSMITH_KEY_MIN ||
           options->key_bytes > GFSMITH_KEY_MAX)
    gfc_words(reason, "key: %zu bytes, allowed are %d to %d",
              options->key == NULL ? (size_t)0 : options->key_bytes, GFSMITH_KEY_MIN,
              GFSMITH_KEY_MAX);
  else
    return time_allowed("deadline_ms", options->deadline_ms, reason) &&
           time_allowed("connect_ms", options->connect_ms, reason);
  return false;
}

static int open_node(gfsmith_node *node, const gfsmith_node_options *options, char *reason) {
  if (!gfc_auth_init()) {
    gfc_words(reason, "there are no random bytes");
    return GFSMITH_EFABRIC;
  }
  int status = gfc_engine_create(&node->engine, options, reason);
  if (status != GFSMITH_OK)
    return status;
  node->rank = options->rank;
  node->deadline_ms = options->deadline_ms;
  node->memory = options->memory;
  node->triggers = gfc_can_trigger(node->engine);
  return gfc_operations_create(&node->operations, node, options);
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
    *out = node; /* before the engine calls anybody */
    status = gfc_engine_start(node->engine, &gfc_operations_upper, node->operations);
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
  if (node == NULL)
    return;
  gfc_engine_stop(node->engine);
  close_node(node);
}

uint16_t gfsmith_node_rank(const gfsmith_node *node) { return node->rank; }
uint16_t gfsmith_node_port(const gfsmith_node *node) { return node->engine->port; }
bool gfsmith_node_triggers(const gfsmith_node *node) { return node->triggers; }

bool gfsmith_node_connected(const gfsmith_node *node, uint16_t rank) {
  return gfc_connected(node->engine, rank);
}

/* gfsmith_node_peer's part in the engine's thread. */
typedef struct naming {
  gfc_engine *engine;
  uint16_t rank;
  struct sockaddr_storage address;
} naming;

static void name_peer(void *upper, void *context) {
  (void)upper;
  naming *named = context;
  gfc_peer *peer = gfc_peer_get(named->engine, named->rank);
  if (peer != NULL)
    gfc_peer_address(peer, &named->address);
  free(named);
}

int gfsmith_node_peer(gfsmith_node *node, uint16_t rank, const char *host, uint16_t port) {
  struct sockaddr_storage address;
  if (rank == node->rank || rank >= GFSMITH_RANKS_MAX || port == 0 ||
      !gfc_address(&address, host, port))
    return GFSMITH_EINVAL;
  naming *named = malloc(sizeof *named);
  if (named == NULL)
    return GFSMITH_ENOMEM;
  *named = (naming){.engine = node->engine, .rank = rank, .address = address};
  int status = gfc_run(node->engine, name_peer, named);
  if (status != GFSMITH_OK)
    free(named);
  return status;
}

/* gfsmith_node_send's part. */
typedef struct sending {
  gfc_peer *peer;
  size_t length;
  uint8_t bytes[];
} sending;

static void send_message(void *upper, void *context) {
  (void)upper;
  sending *sent = context;
  gfc_peer *peer = sent->peer;
  gfc_connection *link = peer->link;
  if (link == NULL || link->state != GFC_UP)
    atomic_fetch_sub(&peer->waiting, sent->length);
  else if (gfc_enqueue(link, GFC_MESSAGE, sent->bytes, sent->length, &peer->waiting) !=
           GFSMITH_OK) {
    atomic_fetch_sub(&peer->waiting, sent->length);
    gfc_doom(link, GFSMITH_ENOMEM, "no memory for a message");
  }
  free(sent);
}

int gfsmith_node_send(gfsmith_node *node, uint16_t rank, const void *bytes, size_t length) {
  gfc_peer *peer = gfc_peer_find(node->engine, rank);
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
