/* The engine waits for the provider, for other threads and for timers, and never spins. */
#include "engine.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "status.h"

static int watch(gfc_engine *engine, int fd, void *source) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
  return epoll_ctl(engine->epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_events(gfc_engine *engine, char *reason) {
  engine->epoll = engine->peers.epoll = epoll_create1(EPOLL_CLOEXEC);
  if (engine->epoll >= 0 && watch(engine, engine->works.wake, &engine->works) == 0 &&
      watch(engine, engine->fabric.eq_fd, &engine->fabric) == 0)
    return GFSMITH_OK;
  gfc_words(reason, "no file descriptor is left for the engine");
  return GFSMITH_ENOMEM;
}

static void set_peers(gfc_engine *engine, const gfsmith_node_options *options) {
  gfc_peers *peers = &engine->peers;
  peers->fabric = &engine->fabric;
  peers->timers = &engine->timers;
  peers->sockets = &engine->own_sockets;
  peers->ending = &engine->ending;
  peers->handlers.link = options->link;
  peers->handlers.message = options->message;
  peers->handlers.context = options->context;
  peers->connect_ms = options->connect_ms;
  peers->ask_ms = 10000;
  peers->silent_ms = 60000;
  gfc_handshake_open(&peers->handshake, options);
  TAILQ_INIT(&peers->connections);
}

static void find_sockets(gfc_engine *engine) {
  struct sockaddr_storage address;
  engine->port = gfc_fabric_address(&engine->fabric, &address);
  if (engine->port == 0)
    return;
  gfc_own_sockets_open(&engine->own_sockets, &address);
  gfc_own_sockets_keep(&engine->own_sockets, NULL);
}

int gfc_engine_create(gfc_engine **out, const gfsmith_node_options *options, char *reason) {
  *out = NULL;
  gfc_engine *engine = calloc(1, sizeof *engine);
  if (engine == NULL)
    return GFSMITH_ENOMEM;
  engine->epoll = -1;
  TAILQ_INIT(&engine->timers);
  set_peers(engine, options);
  int status = gfc_works_create(&engine->works);
  if (status != GFSMITH_OK) {
    free(engine);
    return status;
  }
  status = gfc_fabric_open(&engine->fabric, options, reason);
  if (status == GFSMITH_OK)
    status = open_events(engine, reason);
  if (status != GFSMITH_OK) {
    gfc_engine_destroy(engine);
    return status;
  }
  find_sockets(engine);
  *out = engine;
  return GFSMITH_OK;
}

static void event_error(gfc_engine *engine) {
  uint8_t said[GFC_EVENT_DATA];
  struct fi_eq_err_entry error = {.err_data = said, .err_data_size = sizeof said};
  if (fi_eq_readerr(engine->fabric.eq, &error, 0) < 0)
    return;
  gfc_connection *connection = gfc_peers_connection(&engine->peers, error.fid);
  gfc_heard heard = {said, 0};
  if (error.err_data != NULL && error.err_data_size <= sizeof said)
    heard = (gfc_heard){error.err_data, error.err_data_size};
  if (connection != NULL)
    gfc_connection_failed(connection, error.err, &heard);
}

/* Data that arrived before the end of the connection are still processed. */
static void closed_by_peer(gfc_channel *channel) {
  channel->ready = true;
  while (channel->ready && channel->state == GFC_UP)
    gfc_channel_receive(channel);
  gfc_channel_fail(channel, GFSMITH_EPEER, "the peer has closed the connection");
}

static void event(gfc_engine *engine, uint32_t kind, const gfc_event *read, size_t bytes) {
  const gfc_heard heard = {read->bytes + sizeof read->entry, bytes - sizeof read->entry};
  if (kind == FI_CONNREQ) {
    gfc_peers_requested(&engine->peers, read->entry.info, &heard);
    return;
  }
  gfc_connection *connection = gfc_peers_connection(&engine->peers, read->entry.fid);
  if (connection == NULL)
    return;
  if (kind == FI_CONNECTED)
    gfc_connection_established(connection, &heard);
  else if (kind == FI_SHUTDOWN)
    closed_by_peer(&connection->channel);
}

static void read_events(gfc_engine *engine) {
  enum { EVENTS = 64 };
  gfc_event read;
  for (unsigned i = 0; i < EVENTS; i++) {
    uint32_t kind = 0;
    ssize_t count = fi_eq_read(engine->fabric.eq, &kind, &read, sizeof read, 0);
    if (count == -FI_EAVAIL)
      event_error(engine);
    else if (count < (ssize_t)sizeof read.entry)
      return;
    else
      event(engine, kind, &read, (size_t)count);
  }
}

/* May we sleep until a descriptor is readable? */
static bool may_sleep(gfc_engine *engine) {
  struct fid *eq = &engine->fabric.eq->fid;
  bool sleep = fi_trywait(engine->fabric.fabric, &eq, 1) == 0 && !gfc_works_pending(&engine->works);
  if (!sleep)
    read_events(engine);
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &engine->peers.connections, entry) {
    gfc_channel *channel = &connection->channel;
    if (channel->state == GFC_DOWN || channel->state == GFC_PROVED)
      sleep = false;
    else if (channel->state == GFC_UP && channel->touched && !channel->ready) {
      struct fid *cq = &channel->cq->fid;
      channel->ready = fi_trywait(engine->fabric.fabric, &cq, 1) != 0;
      channel->touched = channel->ready;
    }
    sleep = sleep && !channel->ready;
  }
  return sleep;
}

static int timeout(gfc_engine *engine) {
  if (!may_sleep(engine))
    return 0;
  int wait = gfc_timers_wait(&engine->timers);
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &engine->peers.connections, entry) {
    if (connection->channel.stalled && (wait < 0 || wait > 1))
      wait = 1;
  }
  return wait;
}

static void sleep_and_mark(gfc_engine *engine) {
  enum { EVENTS = 64 };
  struct epoll_event events[EVENTS];
  int count = epoll_wait(engine->epoll, events, EVENTS, timeout(engine));
  for (int i = 0; i < count; i++) {
    void *source = events[i].data.ptr;
    if (source == &engine->works) {
      uint64_t woken;
      while (read(engine->works.wake, &woken, sizeof woken) > 0)
        continue;
    } else if (source == &engine->fabric) {
      read_events(engine);
    } else {
      ((gfc_connection *)source)->channel.ready = true;
    }
  }
}

static void turn(gfc_engine *engine) {
  gfc_works_run(&engine->works, engine->peers.handlers.observer);
  gfc_timers_run(&engine->timers);
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &engine->peers.connections, entry) {
    if (connection->channel.ready)
      gfc_channel_receive(&connection->channel);
    gfc_channel_flush(&connection->channel);
  }
  gfc_peers_settle(&engine->peers);
}

static void finish(gfc_engine *engine) {
  const gfc_handlers *handlers = &engine->peers.handlers;
  handlers->events->stop(handlers->observer);
  gfc_peers_end(&engine->peers);
  gfc_works_close(&engine->works);
  while (gfc_works_pending(&engine->works))
    gfc_works_run(&engine->works, handlers->observer);
}

static void *run(void *context) {
  gfc_engine *engine = context;
  atomic_store(&engine->self, pthread_self());
  atomic_store(&engine->running, true);
  gfc_idle_sockets_watch(&engine->idle_sockets, &engine->timers, &engine->own_sockets,
                         engine->peers.connect_ms);
  while (!atomic_load(&engine->ending)) {
    turn(engine);
    sleep_and_mark(engine);
  }
  finish(engine);
  gfc_idle_sockets_end(&engine->idle_sockets);
  return NULL;
}

/* The least stack of the thread, which computes, as of those of a pool (gfsmith_parallel.h). */
enum { ENGINE_STACK = 1 << 20 };

static bool start_engine(gfc_engine *engine) {
  pthread_attr_t how;
  size_t stack;
  if (pthread_attr_init(&how) != 0)
    return false;
  bool started = pthread_attr_getstacksize(&how, &stack) == 0 &&
                 (stack >= ENGINE_STACK || pthread_attr_setstacksize(&how, ENGINE_STACK) == 0) &&
                 pthread_create(&engine->thread, &how, run, engine) == 0;
  pthread_attr_destroy(&how);
  return started;
}

/* Signals are for the application's threads, except those that an access of the thread causes. */
static void mask_of_engine(sigset_t *mask) {
  static const int own[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  sigfillset(mask);
  for (unsigned n = 0; n < sizeof own / sizeof own[0]; n++)
    sigdelset(mask, own[n]);
}

int gfc_engine_start(gfc_engine *engine, const gfc_link_events *events, void *observer) {
  sigset_t mask, before;
  engine->peers.handlers.events = events;
  engine->peers.handlers.observer = observer;
  mask_of_engine(&mask);
  pthread_sigmask(SIG_SETMASK, &mask, &before);
  bool started = start_engine(engine);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started ? GFSMITH_OK : GFSMITH_ENOMEM;
}

void gfc_engine_stop(gfc_engine *engine) {
  atomic_store(&engine->ending, true);
  gfc_works_wake(&engine->works);
  pthread_join(engine->thread, NULL);
}

void gfc_engine_destroy(gfc_engine *engine) {
  gfc_own_sockets_close(&engine->own_sockets);
  gfc_fabric_close(&engine->fabric);
  if (engine->epoll >= 0)
    close(engine->epoll);
  gfc_works_destroy(&engine->works);
  gfc_peers_free(&engine->peers);
  gfc_handshake_close(&engine->peers.handshake);
  free(engine);
}

/* ---- link.h ---- */

int gfc_run(gfc_engine *engine, void (*work)(void *observer, void *context), void *context) {
  return gfc_works_add(&engine->works, work, context, !gfc_in_engine(engine));
}

bool gfc_in_engine(const gfc_engine *engine) {
  return atomic_load(&engine->running) && pthread_equal(atomic_load(&engine->self), pthread_self());
}

gfc_timers *gfc_engine_timers(gfc_engine *engine) { return &engine->timers; }
bool gfc_can_trigger(const gfc_engine *engine) { return engine->fabric.triggers; }
bool gfc_sealed(const gfc_engine *engine) { return !engine->fabric.triggers; }
struct fid_domain *gfc_domain(const gfc_engine *engine) { return engine->fabric.domain; }

int gfc_register(gfc_engine *engine, void *memory, size_t bytes, unsigned purpose,
                 struct fid_cntr *counter, gfc_registration *registration) {
  return gfc_fabric_register(&engine->fabric, memory, bytes, purpose, counter, registration);
}

int gfc_control(gfc_engine *engine, uint16_t rank, uint8_t type, const void *body, size_t bytes) {
  gfc_channel *channel = gfc_peer_channel(&engine->peers, rank);
  if (channel == NULL)
    return GFSMITH_EPEER;
  if (type < GFC_CONTROL_FIRST || bytes > GFSMITH_MESSAGE_MAX)
    return GFSMITH_EINVAL;
  return gfc_channel_send(channel, type, body, bytes, NULL);
}

int gfc_write(gfc_engine *engine, uint16_t rank, const gfc_writing *writing) {
  gfc_channel *channel = gfc_peer_channel(&engine->peers, rank);
  return channel != NULL ? gfc_channel_write(channel, writing) : GFSMITH_EPEER;
}

bool gfc_authentic(const gfc_engine *engine, uint16_t rank, uint32_t data, const uint8_t *payload,
                   size_t bytes, const uint8_t *tag) {
  const gfc_channel *channel = gfc_peer_channel(&engine->peers, rank);
  return channel != NULL && gfc_seal_write_valid(&channel->session.receive, channel->landed - 1,
                                                 data, payload, bytes, tag);
}

void gfc_drop(gfc_engine *engine, uint16_t rank, int status, const char *reason) {
  gfc_channel *channel = gfc_peer_channel(&engine->peers, rank);
  if (channel != NULL)
    gfc_channel_fail(channel, status, "%s", reason);
}

bool gfc_connected(const gfc_engine *engine, uint16_t rank) {
  const gfc_peer *peer = gfc_peer_find(&engine->peers, rank);
  return peer != NULL && atomic_load(&peer->up);
}

int gfc_trouble(const gfc_engine *engine, uint16_t rank, char *reason) {
  const gfc_peer *peer = gfc_peer_find(&engine->peers, rank);
  if (peer == NULL || peer->link != NULL || peer->trouble == GFSMITH_OK) {
    reason[0] = 0;
    return GFSMITH_OK;
  }
  gfc_words(reason, "%s", peer->reason);
  return peer->trouble;
}
