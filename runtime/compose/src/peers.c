/* What is known of each rank; who connects, and when again. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { BACKOFF_FIRST_MS = 10, BACKOFF_LAST_MS = 1000 };

#define OF_TIMER(timer) ((gfc_peer *)((char *)(timer) - offsetof(gfc_peer, retry)))

gfc_peer *gfc_peer_find(const gfc_engine *engine, uint16_t rank) {
  if (rank >= GFSMITH_RANKS_MAX)
    return NULL;
  return atomic_load_explicit(&engine->peers[rank], memory_order_acquire);
}

gfc_peer *gfc_peer_get(gfc_engine *engine, uint16_t rank) {
  gfc_peer *peer = gfc_peer_find(engine, rank);
  if (peer != NULL)
    return peer;
  peer = calloc(1, sizeof *peer);
  if (peer == NULL)
    return NULL;
  peer->engine = engine;
  peer->rank = rank;
  peer->backoff = BACKOFF_FIRST_MS;
  atomic_store_explicit(&engine->peers[rank], peer, memory_order_release);
  return peer;
}

/* The higher rank connects. */
static bool connects(const gfc_peer *peer) {
  return peer->known && peer->engine->rank > peer->rank && peer->link == NULL &&
         peer->attempt == NULL && !atomic_load(&peer->engine->ending);
}

static void again(gfc_timer *timer) {
  gfc_peer *peer = OF_TIMER(timer);
  if (connects(peer))
    gfc_connect(peer);
}

void gfc_peer_address(gfc_peer *peer, const struct sockaddr_storage *address) {
  if (peer->known && memcmp(&peer->address, address, sizeof *address) == 0)
    return;
  peer->address = *address;
  peer->known = true;
  peer->backoff = BACKOFF_FIRST_MS;
  if (peer->engine->rank < peer->rank)
    return;
  if (peer->link != NULL)
    gfc_doom(peer->link, GFSMITH_EPEER, "the peer has moved");
  if (peer->attempt != NULL)
    gfc_doom(peer->attempt, GFSMITH_EPEER, "the peer has moved");
  if (connects(peer))
    gfc_timer_start(&peer->engine->timers, &peer->retry, gfc_now(), again);
}

void gfc_peer_reached(gfc_peer *peer) {
  peer->attempt = NULL;
  peer->backoff = BACKOFF_FIRST_MS;
  peer->trouble = GFSMITH_OK;
  peer->reason[0] = 0;
  gfc_timer_stop(&peer->engine->timers, &peer->retry);
  atomic_store(&peer->up, true);
}

void gfc_peer_lost(gfc_peer *peer, int status, const char *reason) {
  if (peer->link == NULL) {
    peer->trouble = status;
    gfc_words(peer->reason, "%s", reason);
  }
  if (!connects(peer))
    return;
  gfc_timer_start(&peer->engine->timers, &peer->retry, gfc_now() + peer->backoff, again);
  peer->backoff = peer->backoff < BACKOFF_LAST_MS / 2 ? peer->backoff * 2 : BACKOFF_LAST_MS;
}

void gfc_peers_end(gfc_engine *engine) {
  for (unsigned rank = 0; rank < GFSMITH_RANKS_MAX; rank++) {
    gfc_peer *peer = gfc_peer_find(engine, (uint16_t)rank);
    if (peer != NULL)
      gfc_timer_stop(&engine->timers, &peer->retry);
  }
}

void gfc_peers_free(gfc_engine *engine) {
  for (unsigned rank = 0; rank < GFSMITH_RANKS_MAX; rank++)
    free(gfc_peer_find(engine, (uint16_t)rank));
}

bool gfc_connected(const gfc_engine *engine, uint16_t rank) {
  const gfc_peer *peer = gfc_peer_find(engine, rank);
  return peer != NULL && atomic_load(&peer->up);
}

int gfc_trouble(const gfc_engine *engine, uint16_t rank, char *reason) {
  const gfc_peer *peer = gfc_peer_find(engine, rank);
  if (peer == NULL || peer->link != NULL || peer->trouble == GFSMITH_OK) {
    reason[0] = 0;
    return GFSMITH_OK;
  }
  gfc_words(reason, "%s", peer->reason);
  return peer->trouble;
}
