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
  int fd = -1;
  int status = fi_control(&connection->cq->fid, FI_GETWAIT, &fd);
  if (status != 0)
    return status;
  if (epoll_ctl(connection->engine->events, EPOLL_CTL_ADD, fd, &event) != 0)
    return -FI_ENOMEM;
  connection->fd = fd;
  return 0;
}

static int open_endpoint(gfc_connection *connection, struct fi_info *info) {
  gfc_fabric *fabric = &connection->engine->fabric;
  struct fi_cq_attr attr = {.size = 512, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
  int status = fi_cq_open(fabric->domain, &attr, &connection->cq, connection);
  if (status == 0)
    status = fi_endpoint(fabric->domain, info, &connection->ep, connection);
  if (status == 0)
    status = fi_ep_bind(connection->ep, &fabric->eq->fid, 0);
  if (status == 0)
    status = fi_ep_bind(connection->ep, &connection->cq->fid, FI_TRANSMIT | FI_RECV);
  if (status == 0)
    status = fi_enable(connection->ep);
  return status;
}

static void close_endpoint(gfc_connection *connection) {
  if (connection->fd >= 0)
    epoll_ctl(connection->engine->events, EPOLL_CTL_DEL, connection->fd, NULL);
  /* Not fi_shutdown before: closing says the same to the peer, and sockets closes a descriptor
   * twice then. */
  if (connection->ep != NULL)
    fi_close(&connection->ep->fid);
  if (connection->cq != NULL)
    fi_close(&connection->cq->fid);
  connection->fd = -1;
  connection->ep = NULL;
  connection->cq = NULL;
}

/* An endpoint that can receive. */
static int open_whole(gfc_connection *connection, struct fi_info *info) {
  int status = make_buffers(connection);
  if (status == 0)
    status = open_endpoint(connection, info);
  for (unsigned i = 0; status == 0 && i < GFC_RECEIVES; i++)
    status = gfc_post_receive(connection, &connection->receives[i]);
  return status;
}

/* A connection without an endpoint, on the engine's list. NULL: no memory. */
static gfc_connection *new_connection(gfc_peer *peer, gfc_state state) {
  gfc_engine *engine = peer->engine;
  gfc_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL)
    return NULL;
  connection->engine = engine;
  connection->peer = peer;
  connection->state = state;
  connection->fd = -1;
  connection->credits = GFC_CREDITS;
  TAILQ_INIT(&connection->queue);
  TAILQ_INIT(&connection->under_way);
  TAILQ_INSERT_TAIL(&engine->connections, connection, entry);
  gfc_timer_start(&engine->timers, &connection->timer, gfc_now() + engine->connect_ms, too_late);
  return connection;
}

static void request(gfc_connection *connection, const uint8_t *say, size_t bytes) {
  gfc_peer *peer = connection->peer;
  struct fi_info *info = gfc_fabric_towards(&connection->engine->fabric, &peer->address);
  int status = info != NULL ? 0 : -FI_ENOMEM;
  if (status == 0)
    status = (connection->state == GFC_ASKING ? open_endpoint : open_whole)(connection, info);
  if (status == 0)
    status = fi_connect(connection->ep, info->dest_addr, say, bytes);
  if (status != 0)
    gfc_doom(connection, GFSMITH_EPEER, "connecting failed: %s", fi_strerror(-status));
  fi_freeinfo(info);
}

void gfc_connect(gfc_peer *peer) {
  uint8_t say[GFC_GREETING_MAX];
  gfc_connection *connection = new_connection(peer, GFC_ASKING);
  if (connection == NULL) {
    gfc_peer_lost(peer, GFSMITH_ENOMEM, "no memory for a connection");
    return;
  }
  peer->attempt = connection;
  size_t bytes = gfc_ask(connection, say);
  request(connection, say, bytes);
}

void gfc_failed(gfc_connection *connection, int error, const uint8_t *said, size_t bytes) {
  uint8_t say[GFC_GREETING_MAX];
  if (connection->state != GFC_ASKING && connection->state != GFC_PROVING) {
    gfc_doom(connection, GFSMITH_EPEER, "no connection: %s", fi_strerror(error));
    return;
  }
  bytes = gfc_turned_down(connection, error, said, bytes, say);
  if (bytes == 0)
    return;
  close_endpoint(connection);
  connection->state = GFC_PROVING;
  request(connection, say, bytes);
}

void gfc_established(gfc_connection *connection, const uint8_t *said, size_t bytes) {
  if (connection->state == GFC_COMING || gfc_welcomed(connection, said, bytes))
    connection->state = GFC_PROVED;
  else
    gfc_doom(connection, GFSMITH_EAUTH, "the peer does not know the key");
}

void gfc_accept(gfc_peer *peer, struct fi_info *info, const uint8_t *say, size_t bytes) {
  gfc_engine *engine = peer->engine;
  gfc_connection *connection = new_connection(peer, GFC_COMING);
  int status = connection != NULL ? open_whole(connection, info) : -FI_ENOMEM;
  if (connection == NULL || connection->ep == NULL)
    fi_reject(engine->fabric.pep, info->handle, NULL, 0);
  else if (status == 0)
    status = fi_accept(connection->ep, say, bytes);
  if (status != 0 && connection != NULL)
    gfc_doom(connection, GFSMITH_EFABRIC, "accepting failed: %s", fi_strerror(-status));
  fi_freeinfo(info);
}

void gfc_come_up(gfc_connection *connection) {
  gfc_engine *engine = connection->engine;
  gfc_peer *peer = connection->peer;
  if (peer->link != NULL) {
    gfc_doom(peer->link, GFSMITH_EPEER, "the peer has connected anew");
    gfc_close(peer->link);
  }
  int status = watch(connection);
  if (status != 0) {
    gfc_doom(connection, GFSMITH_EFABRIC, "no descriptor to wait for: %s", fi_strerror(-status));
    return;
  }
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

void gfc_close(gfc_connection *connection) {
  gfc_engine *engine = connection->engine;
  gfc_peer *peer = connection->peer;
  bool up = peer->link == connection;
  TAILQ_REMOVE(&engine->connections, connection, entry);
  gfc_timer_stop(&engine->timers, &connection->timer);
  if (up) {
    peer->link = NULL;
    atomic_store(&peer->up, false);
  }
  if (peer->attempt == connection)
    peer->attempt = NULL;
  close_endpoint(connection);
  gfc_unregister(&connection->registered);
  gfc_discard(connection, connection->status);
  if (up)
    engine->upper->down(engine->above, peer->rank, connection->status, connection->reason);
  if (up && engine->link_handler != NULL)
    engine->link_handler(engine->handler_context, peer->rank, false);
  gfc_peer_lost(peer, connection->status, connection->reason);
  free(connection->buffers);
  free(connection->receives);
  free(connection);
}
