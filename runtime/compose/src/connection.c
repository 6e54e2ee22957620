/* A connection's beginning and end. */
#include "connection.h"

#include <rdma/fi_cm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "engine.h"

enum { STRIDE = (GFC_FRAME_MAX + 63) / 64 * 64 }; /* of the buffers */

#define OF_TIMER(timer) ((gfc_connection *)((char *)(timer) - offsetof(gfc_connection, timer)))

void gfc_doom(gfc_connection *connection, int status, const char *format, ...) {
  if (connection->state == GFC_DOWN)
    return;
  char reason[GFSMITH_REASON_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  memcpy(connection->reason, reason, sizeof reason);
  connection->status = status;
  connection->state = GFC_DOWN;
}

static void too_late(gfc_timer *timer) {
  gfc_connection *connection = OF_TIMER(timer);
  if (connection->state == GFC_REFUSING)
    gfc_doom(connection, connection->status, "%s", connection->reason);
  else
    gfc_doom(connection, GFSMITH_ETIMEDOUT, "no connection that has proved itself in %u ms",
             connection->engine->connect_ms);
}

static void signs_of_life(gfc_timer *timer) {
  gfc_connection *connection = OF_TIMER(timer);
  uint64_t now = gfc_now(), silent = now - connection->heard;
  if (silent >= connection->engine->silent_ms) {
    gfc_doom(connection, GFSMITH_EPEER, "nothing was heard for %u ms",
             connection->engine->silent_ms);
    return;
  }
  if (silent >= connection->engine->ask_ms && connection->credits != 0)
    gfc_enqueue(connection, GFC_PING, NULL, 0, NULL); /* without memory: next time */
  gfc_timer_start(&connection->engine->timers, timer, now + connection->engine->ask_ms,
                  signs_of_life);
}

/* Buffers of frames, for both directions, and the items of receives. */
static int make_buffers(gfc_connection *connection) {
  size_t bytes = (size_t)(GFC_RECEIVES + GFC_SENDS) * STRIDE;
  connection->buffers = aligned_alloc(64, bytes);
  connection->receives = calloc(GFC_RECEIVES, sizeof *connection->receives);
  if (connection->buffers == NULL || connection->receives == NULL)
    return -FI_ENOMEM;
  for (unsigned i = 0; i < GFC_RECEIVES; i++) {
    connection->receives[i].kind = GFC_RECEIVE;
    connection->receives[i].buffer = connection->buffers + (size_t)i * STRIDE;
    connection->receives[i].mark[0].item = &connection->receives[i];
  }
  for (unsigned i = 0; i < GFC_SENDS; i++)
    connection->spare[connection->spares++] =
        connection->buffers + (size_t)(GFC_RECEIVES + i) * STRIDE;
  int status = gfc_register(connection->engine, connection->buffers, bytes, GFC_SOURCE, NULL,
                            &connection->registered);
  return status == GFSMITH_OK ? 0 : -FI_ENOMEM;
}

static int watch(gfc_connection *connection) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  int status = fi_control(&connection->cq->fid, FI_GETWAIT, &connection->fd);
  if (status != 0)
    return status;
  if (epoll_ctl(connection->engine->events, EPOLL_CTL_ADD, connection->fd, &event) == 0)
    return 0;
  connection->fd = -1;
  return -FI_ENOMEM;
}

static int open_endpoint(gfc_connection *connection, struct fi_info *info) {
  gfc_fabric *fabric = &connection->engine->fabric;
  struct fi_cq_attr attr = {.size = 512, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
  int status = make_buffers(connection);
  if (status == 0)
    status = fi_cq_open(fabric->domain, &attr, &connection->cq, connection);
  if (status == 0)
    status = watch(connection);
  if (status == 0)
    status = fi_endpoint(fabric->domain, info, &connection->ep, connection);
  if (status == 0)
    status = fi_ep_bind(connection->ep, &fabric->eq->fid, 0);
  if (status == 0)
    status = fi_ep_bind(connection->ep, &connection->cq->fid, FI_TRANSMIT | FI_RECV);
  if (status == 0)
    status = fi_enable(connection->ep);
  for (unsigned i = 0; status == 0 && i < GFC_RECEIVES; i++)
    status = gfc_post_receive(connection, &connection->receives[i]);
  return status;
}

/* A connection without an endpoint, on the engine's list. NULL: no memory. */
static gfc_connection *new_connection(gfc_engine *engine, gfc_peer *peer) {
  gfc_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL)
    return NULL;
  connection->engine = engine;
  connection->peer = peer;
  connection->ours = peer != NULL;
  connection->fd = -1;
  connection->credits = GFC_CREDITS;
  TAILQ_INIT(&connection->queue);
  TAILQ_INIT(&connection->under_way);
  TAILQ_INSERT_TAIL(&engine->connections, connection, entry);
  gfc_timer_start(&engine->timers, &connection->timer, gfc_now() + engine->connect_ms, too_late);
  return connection;
}

void gfc_connect(gfc_peer *peer) {
  gfc_engine *engine = peer->engine;
  struct fi_info *info = gfc_fabric_towards(&engine->fabric, &peer->address);
  gfc_connection *connection = info != NULL ? new_connection(engine, peer) : NULL;
  if (connection == NULL) {
    fi_freeinfo(info);
    gfc_peer_lost(peer, GFSMITH_ENOMEM, "no memory for a connection");
    return;
  }
  peer->attempt = connection;
  int status = open_endpoint(connection, info);
  if (status == 0)
    status = fi_connect(connection->ep, info->dest_addr, NULL, 0);
  if (status != 0)
    gfc_doom(connection, GFSMITH_EPEER, "connecting failed: %s", fi_strerror(-status));
  fi_freeinfo(info);
}

/* Too many strangers: the one that has kept us waiting for longest goes. Honest peers prove
 * themselves at once. */
static void make_room(gfc_engine *engine) {
  if (engine->half_open < GFC_HALF_OPEN_MAX)
    return;
  gfc_connection *oldest;
  TAILQ_FOREACH(oldest, &engine->connections, entry) {
    if (oldest->half_open && oldest->state != GFC_DOWN) {
      gfc_doom(oldest, GFSMITH_ETIMEDOUT, "too many connections that have not proved themselves");
      return;
    }
  }
}

void gfc_accept(gfc_engine *engine, struct fi_info *info) {
  make_room(engine);
  gfc_connection *connection = new_connection(engine, NULL);
  if (connection == NULL) {
    fi_reject(engine->fabric.pep, info->handle, NULL, 0);
    fi_freeinfo(info);
    return;
  }
  connection->half_open = true;
  engine->half_open++;
  int status = open_endpoint(connection, info);
  if (connection->ep == NULL)
    fi_reject(engine->fabric.pep, info->handle, NULL, 0);
  else if (status == 0)
    status = fi_accept(connection->ep, NULL, 0);
  if (status != 0)
    gfc_doom(connection, GFSMITH_EFABRIC, "accepting failed: %s", fi_strerror(-status));
  fi_freeinfo(info);
}

static void not_half_open(gfc_connection *connection) {
  if (connection->half_open)
    connection->engine->half_open--;
  connection->half_open = false;
}

void gfc_come_up(gfc_connection *connection) {
  gfc_engine *engine = connection->engine;
  gfc_peer *peer = connection->peer;
  if (peer->link != NULL) {
    gfc_doom(peer->link, GFSMITH_EPEER, "the peer has connected anew");
    gfc_close(peer->link);
  }
  not_half_open(connection);
  connection->state = GFC_UP;
  connection->ready = true;
  connection->heard = gfc_now();
  gfc_timer_start(&engine->timers, &connection->timer, connection->heard + engine->ask_ms,
                  signs_of_life);
  peer->link = connection;
  gfc_peer_reached(peer);
  engine->upper->up(engine->above, peer->rank);
  if (engine->link_handler != NULL)
    engine->link_handler(engine->handler_context, peer->rank, true);
  gfc_flush(connection);
}

static void close_endpoint(gfc_connection *connection) {
  if (connection->fd >= 0)
    epoll_ctl(connection->engine->events, EPOLL_CTL_DEL, connection->fd, NULL);
  if (connection->ep != NULL) {
    fi_shutdown(connection->ep, 0);
    fi_close(&connection->ep->fid);
  }
  if (connection->cq != NULL)
    fi_close(&connection->cq->fid);
  gfc_unregister(&connection->registered);
}

void gfc_close(gfc_connection *connection) {
  gfc_engine *engine = connection->engine;
  gfc_peer *peer = connection->peer;
  bool up = peer != NULL && peer->link == connection;
  TAILQ_REMOVE(&engine->connections, connection, entry);
  gfc_timer_stop(&engine->timers, &connection->timer);
  not_half_open(connection);
  if (up) {
    peer->link = NULL;
    atomic_store(&peer->up, false);
  }
  if (peer != NULL && peer->attempt == connection)
    peer->attempt = NULL;
  close_endpoint(connection);
  gfc_discard(connection, connection->status);
  if (up)
    engine->upper->down(engine->above, peer->rank, connection->status, connection->reason);
  if (up && engine->link_handler != NULL)
    engine->link_handler(engine->handler_context, peer->rank, false);
  if (peer != NULL)
    gfc_peer_lost(peer, connection->status, connection->reason);
  free(connection->buffers);
  free(connection->receives);
  free(connection);
}
