/* The engine of a node: one thread that runs the connections of peers, timers and the work of other
 * threads. Everything in it belongs to this thread, unless a comment states otherwise. */
#ifndef GFC_ENGINE_H
#define GFC_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "idle_sockets.h"
#include "link.h"
#include "peer.h"
#include "work_queue.h"

struct gfc_engine {
  gfc_fabric fabric;
  gfc_peers peers;
  gfc_works works;
  gfc_timers timers;
  gfc_own_sockets own_sockets;
  gfc_idle_sockets idle_sockets;
  uint16_t port;
  atomic_bool ending;
  pthread_t thread;
  atomic_bool running;     /* has the thread begun? */
  _Atomic(pthread_t) self; /* thread id once it runs */
  int epoll; /* watches the wake-up, the event queue, and the completion queues of connections */
};

/* Open provider and address, and set the key. */
int gfc_engine_create(gfc_engine **out, const gfsmith_node_options *options, char *reason);
/* Start the thread. `observer` is the first argument of the events. */
int gfc_engine_start(gfc_engine *engine, const gfc_link_events *events, void *observer);
/* Close the links, and wait for the end of the thread. */
void gfc_engine_stop(gfc_engine *engine);
void gfc_engine_destroy(gfc_engine *engine);

#endif
