/* Peers: the record of each rank, its connection from the first request to the end, and the time of
 * the next attempt. The node with the higher rank connects. */
#ifndef GFC_PEER_H
#define GFC_PEER_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "channel.h"
#include "fabric.h"
#include "faults.h"
#include "handshake.h"
#include "own_sockets.h"
#include "timer.h"

typedef struct gfc_peers gfc_peers;
typedef struct gfc_peer gfc_peer;

typedef struct gfc_connection {
  TAILQ_ENTRY(gfc_connection) entry;
  gfc_peer *peer;
  gfc_channel channel;
  gfc_attempt attempt; /* of an own request */
  int fd;              /* of the completion queue when it is up, or -1 */
  gfc_timer timer;     /* until it is up: the time limit; then: signs of life */
} gfc_connection;
typedef TAILQ_HEAD(gfc_connections, gfc_connection) gfc_connections;

struct gfc_peer {
  gfc_peers *all;
  uint16_t rank;
  gfc_connection *link;    /* up, or NULL */
  gfc_connection *attempt; /* own request to reach it, or NULL */
  bool known;              /* is there an address? */
  struct sockaddr_storage address;
  bool older;       /* does the next attempt prove the previous key? */
  unsigned backoff; /* milliseconds until the next attempt */
  gfc_timer retry;
  int trouble; /* gfc_trouble */
  char reason[GFSMITH_REASON_MAX];
  atomic_bool up;        /* any thread reads it */
  atomic_size_t waiting; /* bytes of gfsmith_node_send that wait; any thread */
};

/* All peers of a node. Everything belongs to the engine's thread, unless a comment states
 * otherwise. */
struct gfc_peers {
  gfc_fabric *fabric;
  gfc_timers *timers;
  gfc_own_sockets *sockets;
  int epoll; /* watches the completion queue of every connection that is up */
  gfc_handlers handlers;
  gfc_handshake handshake;
  unsigned connect_ms;
  unsigned ask_ms, silent_ms; /* silence after which a peer is queried, and dropped */
  gfc_faults faults;
  atomic_bool *ending; /* no new connection is begun */
  atomic_uint rekeys;  /* calls of gfsmith_node_rekey that wait for the engine; any thread */
  atomic_uint old;     /* links that are up without the current key; any thread reads it */
  gfc_connections connections;
  /* Any thread reads or adds one; none is freed before the end. */
  gfc_peer *_Atomic peer[GFSMITH_RANKS_MAX];
};

/* The record of a rank, created if there is none; NULL: out of memory. */
gfc_peer *gfc_peer_get(gfc_peers *all, uint16_t rank);
/* The record of a rank, or NULL. Any thread. */
gfc_peer *gfc_peer_find(const gfc_peers *all, uint16_t rank);
/* The channel of the link to a rank that is up, or NULL. */
gfc_channel *gfc_peer_channel(const gfc_peers *all, uint16_t rank);
/* Set the address of a peer. If this node is the one that connects, begin, or begin again with the
 * new address.
 */
void gfc_peer_address(gfc_peer *peer, const struct sockaddr_storage *address);

/* Replace the keys: begin to renew the links of the previous one, and close those of others. */
void gfc_peers_rekey(gfc_peers *all, const gfc_key *current, const gfc_key *previous);

/* Handle a connection request of a peer or of an unknown program: refuse or accept it. `info` is
 * libfabric's, and is freed.
 */
void gfc_peers_requested(gfc_peers *all, struct fi_info *info, const gfc_heard *heard);
/* The connection of this endpoint, or NULL. */
gfc_connection *gfc_peers_connection(const gfc_peers *all, const struct fid *fid);
/* The provider reports that a connection has failed, or is established, with the greeting of the
 * peer. */
void gfc_connection_failed(gfc_connection *connection, int error, const gfc_heard *heard);
void gfc_connection_established(gfc_connection *connection, const gfc_heard *heard);

/* Close the connections that are down, bring up those that have proved themselves, and call the
 * handlers. Must not be called from a handler. */
void gfc_peers_settle(gfc_peers *all);
void gfc_peers_end(gfc_peers *all); /* take all links down, and start no more */
void gfc_peers_free(gfc_peers *all);

#endif
