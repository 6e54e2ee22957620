/* The engine from within: what the files below link.h share. Everything in it belongs to the
 * engine's thread, unless it says otherwise. */
#ifndef GFC_ENGINE_H
#define GFC_ENGINE_H

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "auth.h"
#include "connection.h"
#include "fabric.h"
#include "faults.h"
#include "handshake.h"
#include "link.h"
#include "work.h"

/* What is known of a rank. */
typedef struct gfc_peer {
  gfc_engine *engine;
  uint16_t rank;
  gfc_connection *link;    /* up, or NULL */
  gfc_connection *attempt; /* ours to reach it, or NULL */
  bool known;              /* is there an address? */
  struct sockaddr_storage address;
  unsigned backoff; /* milliseconds until the next attempt */
  gfc_timer retry;
  int trouble; /* gfc_trouble */
  char reason[GFSMITH_REASON_MAX];
  atomic_bool up;        /* any thread reads it */
  atomic_size_t waiting; /* bytes of gfsmith_node_send that wait; any thread */
} gfc_peer;

struct gfc_engine {
  gfc_fabric fabric;
  gfc_key key;
  uint16_t rank;
  uint16_t port;
  unsigned connect_ms;
  unsigned ask_ms, silent_ms; /* a peer that has been silent for so long is asked, or gone */
  const gfc_upper *upper;
  void *above; /* first argument of upper's functions */
  gfsmith_link_handler *link_handler;
  gfsmith_message_handler *message_handler;
  void *handler_context;
  gfc_works works;
  gfc_timers timers;
  gfc_connections connections;
  gfc_tickets tickets;
  gfc_peer *_Atomic peers[GFSMITH_RANKS_MAX]; /* any thread reads it; never freed before the end */
  gfc_faults faults;
  DIR *descriptors; /* the process's, or NULL */
  gfc_timer gate;
  atomic_bool ending;
  pthread_t thread;
  atomic_bool running;     /* has the thread begun? */
  _Atomic(pthread_t) self; /* which it is, then */
  int events; /* epoll: the wake-up, the event queue, and every connection's completion queue */
};

/* engine.c. Create: provider, address, key. Start: the thread. Stop: links closed, the thread has
 * ended. */
int gfc_engine_create(gfc_engine **out, const gfsmith_node_options *options, char *reason);
int gfc_engine_start(gfc_engine *engine, const gfc_upper *upper, void *above);
void gfc_engine_stop(gfc_engine *engine);
void gfc_engine_destroy(gfc_engine *engine);

/* gate.c. From the thread's beginning to its end. */
void gfc_gate_open(gfc_engine *engine);
void gfc_gate_close(gfc_engine *engine);

/* peers.c. The record of a rank, made if it is not there; NULL: no memory. */
gfc_peer *gfc_peer_get(gfc_engine *engine, uint16_t rank);
gfc_peer *gfc_peer_find(const gfc_engine *engine, uint16_t rank); /* any thread */
/* Is there an address, and is connecting ours to do? Then begin, or begin anew at another address.
 */
void gfc_peer_address(gfc_peer *peer, const struct sockaddr_storage *address);
/* There is a link to it now. */
void gfc_peer_reached(gfc_peer *peer);
/* A connection to it has ended: note why, and try again later. */
void gfc_peer_lost(gfc_peer *peer, int status, const char *reason);
void gfc_peers_end(gfc_engine *engine); /* try no more */
void gfc_peers_free(gfc_engine *engine);

/* Words into a reason of GFSMITH_REASON_MAX bytes; NULL is allowed. */
void gfc_words(char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
