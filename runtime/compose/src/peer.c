#include "peer.h"

#include <rdma/fi_cm.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "link_socket.h"
#include "status.h"

enum { BACKOFF_FIRST_MS = 10, BACKOFF_LAST_MS = 1000 };

#define OF_RETRY(timer) ((gfc_peer *)((char *)(timer) - offsetof(gfc_peer, retry)))
#define OF_TIMER(address) ((gfc_connection *)((char *)(address) - offsetof(gfc_connection, timer)))

/* ---- records ---- */

gfc_peer *gfc_peer_find(const gfc_peers *all, uint16_t rank) {
  if (rank >= GFSMITH_RANKS_MAX)
    return NULL;
  return atomic_load_explicit(&all->peer[rank], memory_order_acquire);
}

gfc_peer *gfc_peer_get(gfc_peers *all, uint16_t rank) {
  gfc_peer *peer = gfc_peer_find(all, rank);
  if (peer != NULL)
    return peer;
  peer = calloc(1, sizeof *peer);
  if (peer == NULL)
    return NULL;
  peer->all = all;
  peer->rank = rank;
  peer->backoff = BACKOFF_FIRST_MS;
  gfc_peer *other = NULL; /* another thread may have been first */
  if (atomic_compare_exchange_strong(&all->peer[rank], &other, peer))
    return peer;
  free(peer);
  return other;
}

gfc_channel *gfc_peer_channel(const gfc_peers *all, uint16_t rank) {
  const gfc_peer *peer = gfc_peer_find(all, rank);
  gfc_channel *channel = peer != NULL && peer->link != NULL ? &peer->link->channel : NULL;
  return channel != NULL && channel->state == GFC_UP ? channel : NULL;
}

void gfc_peers_free(gfc_peers *all) {
  for (unsigned rank = 0; rank < GFSMITH_RANKS_MAX; rank++)
    free(gfc_peer_find(all, (uint16_t)rank));
}

gfc_connection *gfc_peers_connection(const gfc_peers *all, const struct fid *fid) {
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &all->connections, entry) {
    if (connection->channel.ep != NULL && &connection->channel.ep->fid == fid)
      return connection;
  }
  return NULL;
}

/* ---- endpoints ---- */

static int watch(gfc_connection *connection) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  int fd = -1;
  int status = fi_control(&connection->channel.cq->fid, FI_GETWAIT, &fd);
  if (status != 0)
    return status;
  if (epoll_ctl(connection->peer->all->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    return -FI_ENOMEM;
  connection->fd = fd;
  return 0;
}

static int open_endpoint(gfc_connection *connection, struct fi_info *info) {
  gfc_fabric *fabric = connection->peer->all->fabric;
  struct fi_cq_attr attr = {.size = 512, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
  int status = fi_cq_open(fabric->domain, &attr, &connection->channel.cq, connection);
  if (status == 0)
    status = fi_endpoint(fabric->domain, info, &connection->channel.ep, connection);
  if (status == 0)
    status = fi_ep_bind(connection->channel.ep, &fabric->eq->fid, 0);
  if (status == 0)
    status =
        fi_ep_bind(connection->channel.ep, &connection->channel.cq->fid, FI_TRANSMIT | FI_RECV);
  if (status == 0)
    status = fi_enable(connection->channel.ep);
  return status;
}

static void close_endpoint(gfc_connection *connection) {
  if (connection->fd >= 0)
    epoll_ctl(connection->peer->all->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
  /* Without fi_shutdown before: closing notifies the peer in the same way, and after fi_shutdown
   * `sockets` closes a descriptor twice. */
  if (connection->channel.ep != NULL)
    fi_close(&connection->channel.ep->fid);
  if (connection->channel.cq != NULL)
    fi_close(&connection->channel.cq->fid);
  connection->fd = -1;
  connection->channel.ep = NULL;
  connection->channel.cq = NULL;
}

/* An endpoint that can receive. */
static int open_whole(gfc_connection *connection, struct fi_info *info) {
  int status = gfc_channel_allocate(&connection->channel);
  if (status == 0)
    status = open_endpoint(connection, info);
  return status == 0 ? gfc_channel_post_receives(&connection->channel) : status;
}

/* ---- start of a connection ---- */

static void too_late(gfc_timer *timer) {
  gfc_connection *connection = OF_TIMER(timer);
  gfc_channel_fail(&connection->channel, GFSMITH_ETIMEDOUT,
                   "no authenticated connection after %u ms", connection->peer->all->connect_ms);
}

/* A new connection without an endpoint, in the list. NULL: out of memory. */
static gfc_connection *new_connection(gfc_peer *peer, gfc_link_state state) {
  gfc_peers *all = peer->all;
  gfc_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL)
    return NULL;
  connection->peer = peer;
  connection->fd = -1;
  connection->attempt.peer = peer->rank;
  connection->channel.fabric = all->fabric;
  connection->channel.faults = &all->faults;
  connection->channel.handlers = &all->handlers;
  connection->channel.handshake = &all->handshake;
  connection->channel.rank = peer->rank;
  connection->channel.state = state;
  gfc_channel_init(&connection->channel);
  TAILQ_INSERT_TAIL(&all->connections, connection, entry);
  gfc_timer_start(all->timers, &connection->timer, gfc_now() + all->connect_ms, too_late);
  return connection;
}

static void request(gfc_connection *connection, const gfc_reply *say) {
  gfc_peer *peer = connection->peer;
  struct fi_info *info = gfc_fabric_towards(connection->peer->all->fabric, &peer->address);
  int status = info != NULL ? 0 : -FI_ENOMEM;
  if (status == 0)
    status =
        (connection->channel.state == GFC_ASKING ? open_endpoint : open_whole)(connection, info);
  if (status == 0)
    status = fi_connect(connection->channel.ep, info->dest_addr, say->data, say->bytes);
  if (status != 0)
    gfc_channel_fail(&connection->channel, GFSMITH_EPEER, "connecting failed: %s",
                     fi_strerror(-status));
  fi_freeinfo(info);
}

static void retry_later(gfc_peer *peer, int status, const char *reason);

static void connect_to(gfc_peer *peer) {
  gfc_reply ask;
  gfc_connection *connection = new_connection(peer, GFC_ASKING);
  if (connection == NULL) {
    retry_later(peer, GFSMITH_ENOMEM, "no memory for a connection");
    return;
  }
  peer->attempt = connection;
  const gfc_handshake *own = &peer->all->handshake;
  bool older = peer->older && own->previous.bytes != 0;
  connection->attempt.key = older ? own->previous : own->current;
  gfc_handshake_ask(own, peer->rank, &connection->attempt.dialogue, &ask);
  request(connection, &ask);
}

/* Should this node begin a connection to this peer now? The higher rank connects. */
static bool connects(const gfc_peer *peer) {
  return peer->known && peer->all->handshake.rank > peer->rank && peer->link == NULL &&
         peer->attempt == NULL && !atomic_load(peer->all->ending);
}

static void again(gfc_timer *timer) {
  gfc_peer *peer = OF_RETRY(timer);
  if (connects(peer))
    connect_to(peer);
}

/* A connection to this peer has ended, or could not be begun: store the reason, and try again
 * later. */
static void retry_later(gfc_peer *peer, int status, const char *reason) {
  if (peer->link == NULL) {
    peer->trouble = status;
    gfc_words(peer->reason, "%s", reason);
  }
  if (!connects(peer))
    return;
  gfc_timer_start(peer->all->timers, &peer->retry, gfc_now() + peer->backoff, again);
  peer->backoff = peer->backoff < BACKOFF_LAST_MS / 2 ? peer->backoff * 2 : BACKOFF_LAST_MS;
}

void gfc_peer_address(gfc_peer *peer, const struct sockaddr_storage *address) {
  if (peer->known && memcmp(&peer->address, address, sizeof *address) == 0)
    return;
  peer->address = *address;
  peer->known = true;
  peer->backoff = BACKOFF_FIRST_MS;
  if (peer->all->handshake.rank < peer->rank)
    return;
  if (peer->link != NULL)
    gfc_channel_fail(&peer->link->channel, GFSMITH_EPEER, "the peer has moved");
  if (peer->attempt != NULL)
    gfc_channel_fail(&peer->attempt->channel, GFSMITH_EPEER, "the peer has moved");
  if (connects(peer))
    gfc_timer_start(peer->all->timers, &peer->retry, gfc_now(), again);
}

void gfc_connection_failed(gfc_connection *connection, int error, const gfc_heard *heard) {
  gfc_channel *channel = &connection->channel;
  gfc_reply proof;
  char reason[GFSMITH_REASON_MAX];
  if (channel->state != GFC_ASKING && channel->state != GFC_PROVING) {
    gfc_channel_fail(channel, GFSMITH_EPEER, "no connection: %s", fi_strerror(error));
    return;
  }
  int status = gfc_handshake_prove(&connection->peer->all->handshake, &connection->attempt, heard,
                                   fi_strerror(error), &proof, reason);
  if (status != GFSMITH_OK) {
    connection->peer->older = status == GFSMITH_EAUTH && !connection->peer->older;
    gfc_channel_fail(channel, status, "%s", reason);
    return;
  }
  close_endpoint(connection);
  channel->state = GFC_PROVING;
  request(connection, &proof);
}

void gfc_connection_established(gfc_connection *connection, const gfc_heard *heard) {
  gfc_channel *channel = &connection->channel;
  const gfc_handshake *handshake = &connection->peer->all->handshake;
  const gfc_attempt *attempt = &connection->attempt;
  if (channel->state == GFC_PROVING && gfc_handshake_welcomed(handshake, attempt, heard)) {
    gfc_session_open(&channel->session, true, &attempt->key, &attempt->dialogue);
    channel->state = GFC_PROVED;
  } else if (channel->state == GFC_COMING) {
    channel->state = GFC_PROVED;
  } else {
    gfc_channel_fail(channel, GFSMITH_EAUTH, "the peer does not have the key");
  }
}

/* ---- requests of peers ---- */

static void reject(gfc_peers *all, struct fi_info *info, const gfc_reply *reply) {
  fi_reject(all->fabric->pep, info->handle, reply->data, reply->bytes);
  fi_freeinfo(info);
}

static void admit(gfc_peer *peer, struct fi_info *info, const gfc_reply *welcome,
                  const gfc_admission *admission) {
  gfc_connection *connection = new_connection(peer, GFC_COMING);
  if (connection != NULL)
    gfc_session_open(&connection->channel.session, false, admission->key, &admission->dialogue);
  int status = connection != NULL ? open_whole(connection, info) : -FI_ENOMEM;
  if (connection == NULL || connection->channel.ep == NULL)
    fi_reject(peer->all->fabric->pep, info->handle, NULL, 0);
  else if (status == 0)
    status = fi_accept(connection->channel.ep, welcome->data, welcome->bytes);
  if (status != 0 && connection != NULL)
    gfc_channel_fail(&connection->channel, GFSMITH_EFABRIC, "accepting failed: %s",
                     fi_strerror(-status));
  fi_freeinfo(info);
}

void gfc_peers_requested(gfc_peers *all, struct fi_info *info, const gfc_heard *heard) {
  gfc_reply reply;
  uint16_t rank = 0;
  gfc_admission admission;
  gfc_verdict verdict = gfc_handshake_judge(&all->handshake, heard, &rank, &reply, &admission);
  gfc_peer *peer = verdict != GFC_REJECT ? gfc_peer_get(all, rank) : NULL;
  if (verdict == GFC_ADMIT && peer != NULL) {
    admit(peer, info, &reply, &admission);
    return;
  }
  if (verdict == GFC_ADMIT)
    gfc_handshake_refuse_late(&all->handshake, rank, &reply);
  else if (peer != NULL)
    retry_later(peer, GFSMITH_EAUTH, "a node that claims to be this peer does not have the key");
  reject(all, info, &reply);
}

/* ---- up and down ---- */

static void signs_of_life(gfc_timer *timer);

static void look_later(gfc_connection *connection, uint64_t now) {
  const gfc_peers *all = connection->peer->all;
  connection->channel.look = now + all->ask_ms;
  gfc_timer_start(all->timers, &connection->timer, connection->channel.look, signs_of_life);
}

/* Milliseconds since the last message. Time in which this node itself did not run, so that it looks
 * late, does not count. */
static uint64_t since_message(gfc_channel *channel, uint64_t now) {
  uint64_t heard = channel->heard + (now - channel->look);
  channel->heard = heard < now ? heard : now;
  return now - channel->heard;
}

/* Has the peer sent nothing for too long? A part of a long write is no message yet. */
static bool is_silent(gfc_connection *connection, uint64_t since) {
  const gfc_peers *all = connection->peer->all;
  return since >= all->silent_ms &&
         gfc_link_socket_silence(all->sockets, connection->channel.ep) >= all->silent_ms;
}

/* The peer cannot return credits while it sends a long write, so CREDIT, which needs none, shows it
 * that this node is there. */
static void signs_of_life(gfc_timer *timer) {
  gfc_connection *connection = OF_TIMER(timer);
  gfc_peers *all = connection->peer->all;
  gfc_channel *channel = &connection->channel;
  uint64_t now = gfc_now(), since = since_message(channel, now);
  if (is_silent(connection, since)) {
    gfc_channel_fail(channel, GFSMITH_EPEER, "the peer was silent for %u ms", all->silent_ms);
    return;
  }
  if (since >= all->ask_ms) /* without memory: next time */
    gfc_channel_send(channel, channel->credits != 0 ? GFC_PING : GFC_CREDIT, NULL, 0, NULL);
  gfc_channel_renew(channel);
  look_later(connection, now);
}

static void reached(gfc_peer *peer) {
  peer->attempt = NULL;
  peer->older = false;
  peer->backoff = BACKOFF_FIRST_MS;
  peer->trouble = GFSMITH_OK;
  peer->reason[0] = 0;
  gfc_timer_stop(peer->all->timers, &peer->retry);
  atomic_store(&peer->up, true);
}

static void close_connection(gfc_connection *connection) {
  gfc_peer *peer = connection->peer;
  gfc_peers *all = peer->all;
  const gfc_handlers *handlers = &all->handlers;
  gfc_channel *channel = &connection->channel;
  bool up = peer->link == connection;
  TAILQ_REMOVE(&all->connections, connection, entry);
  gfc_timer_stop(all->timers, &connection->timer);
  if (up) {
    peer->link = NULL;
    atomic_store(&peer->up, false);
  }
  if (peer->attempt == connection)
    peer->attempt = NULL;
  close_endpoint(connection);
  gfc_channel_discard(channel, channel->status);
  retry_later(peer, channel->status, channel->reason);
  if (up)
    handlers->events->down(handlers->observer, peer->rank, channel->status, channel->reason);
  if (up && handlers->link != NULL)
    handlers->link(handlers->context, peer->rank, false);
  sodium_memzero(&connection->attempt.key, sizeof connection->attempt.key);
  gfc_session_close(&channel->session);
  free(connection);
}

static void come_up(gfc_connection *connection) {
  gfc_peer *peer = connection->peer;
  gfc_peers *all = peer->all;
  const gfc_handlers *handlers = &all->handlers;
  gfc_channel *channel = &connection->channel;
  if (gfc_handshake_key(&all->handshake, channel->session.name) == NULL) {
    gfc_channel_fail(channel, GFSMITH_EAUTH, "the key of the link has been replaced");
    return;
  }
  if (peer->link != NULL) {
    gfc_channel_fail(&peer->link->channel, GFSMITH_EPEER, "the peer has connected again");
    close_connection(peer->link);
  }
  int status = watch(connection);
  if (status != 0) {
    gfc_channel_fail(channel, GFSMITH_EFABRIC, "no descriptor to wait for: %s",
                     fi_strerror(-status));
    return;
  }
  gfc_own_sockets_keep(all->sockets, peer->known ? &peer->address : NULL);
  channel->state = GFC_UP;
  channel->ready = true;
  channel->heard = gfc_now();
  look_later(connection, channel->heard);
  peer->link = connection;
  reached(peer);
  handlers->events->up(handlers->observer, peer->rank);
  if (handlers->link != NULL)
    handlers->link(handlers->context, peer->rank, true);
  gfc_channel_flush(channel);
}

/* During the replacement of a key only: otherwise all links have the current one. */
static void count_old(gfc_peers *all) {
  unsigned old = 0;
  gfc_connection *connection;
  if (all->handshake.previous.bytes != 0) {
    TAILQ_FOREACH(connection, &all->connections, entry) {
      const gfc_channel *channel = &connection->channel;
      old += channel->state == GFC_UP && !gfc_session_current(&channel->session, &all->handshake);
    }
  }
  atomic_store(&all->old, old);
}

void gfc_peers_settle(gfc_peers *all) {
  gfc_connection *connection = TAILQ_FIRST(&all->connections);
  while (connection != NULL) {
    if (connection->channel.state == GFC_DOWN)
      close_connection(connection);
    else if (connection->channel.state == GFC_PROVED)
      come_up(connection);
    else {
      connection = TAILQ_NEXT(connection, entry);
      continue;
    }
    connection = TAILQ_FIRST(&all->connections); /* the handlers may have ended others */
  }
  count_old(all);
}

void gfc_peers_rekey(gfc_peers *all, const gfc_key *current, const gfc_key *previous) {
  gfc_handshake_keys(&all->handshake, current, previous);
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &all->connections, entry) {
    gfc_channel *channel = &connection->channel;
    if (channel->state != GFC_UP)
      continue;
    if (gfc_handshake_key(&all->handshake, channel->session.name) == NULL)
      gfc_channel_fail(channel, GFSMITH_EAUTH, "the key of the link has been replaced");
    else
      gfc_channel_renew(channel);
  }
  count_old(all);
}

void gfc_peers_end(gfc_peers *all) {
  for (unsigned rank = 0; rank < GFSMITH_RANKS_MAX; rank++) {
    gfc_peer *peer = gfc_peer_find(all, (uint16_t)rank);
    if (peer != NULL)
      gfc_timer_stop(all->timers, &peer->retry);
  }
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &all->connections, entry) {
    gfc_channel_fail(&connection->channel, GFSMITH_ECANCELED, "the node is being destroyed");
  }
  gfc_peers_settle(all);
}
