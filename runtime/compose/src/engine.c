/* The engine: one thread that waits for the provider, for other threads and for timers, and never
 * spins. */
#include "engine.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

void gfc_words(char *reason, const char *format, ...) {
  if (reason == NULL)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, GFSMITH_REASON_MAX, format, arguments);
  va_end(arguments);
}

static int watch(gfc_engine *engine, int fd, void *what) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
  return epoll_ctl(engine->events, EPOLL_CTL_ADD, fd, &event);
}

static int open_events(gfc_engine *engine, char *reason) {
  engine->events = epoll_create1(EPOLL_CLOEXEC);
  if (engine->events >= 0 && watch(engine, engine->works.wake, &engine->works) == 0 &&
      watch(engine, engine->fabric.eq_fd, &engine->fabric) == 0)
    return GFSMITH_OK;
  gfc_words(reason, "no file descriptor is left for the engine");
  return GFSMITH_ENOMEM;
}

int gfc_engine_create(gfc_engine **out, const gfsmith_node_options *options, char *reason) {
  *out = NULL;
  gfc_engine *engine = calloc(1, sizeof *engine);
  if (engine == NULL)
    return GFSMITH_ENOMEM;
  engine->events = -1;
  engine->rank = options->rank;
  engine->connect_ms = options->connect_ms;
  engine->ask_ms = 10000;
  engine->silent_ms = 60000;
  engine->link_handler = options->link;
  engine->message_handler = options->message;
  engine->handler_context = options->context;
  TAILQ_INIT(&engine->timers);
  TAILQ_INIT(&engine->connections);
  gfc_key_set(&engine->key, options->key, options->key_bytes);
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
  engine->port = gfc_fabric_port(&engine->fabric);
  *out = engine;
  return GFSMITH_OK;
}

static gfc_connection *find(gfc_engine *engine, const struct fid *fid) {
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &engine->connections, entry) {
    if (connection->ep != NULL && &connection->ep->fid == fid)
      return connection;
  }
  return NULL;
}

static void event_error(gfc_engine *engine) {
  uint8_t said[GFC_EVENT_DATA];
  struct fi_eq_err_entry error = {.err_data = said, .err_data_size = sizeof said};
  if (fi_eq_readerr(engine->fabric.eq, &error, 0) < 0)
    return;
  gfc_connection *connection = find(engine, error.fid);
  bool any = error.err_data != NULL && error.err_data_size <= sizeof said;
  if (connection != NULL)
    gfc_failed(connection, error.err, any ? error.err_data : said, any ? error.err_data_size : 0);
}

static void event(gfc_engine *engine, uint32_t kind, const gfc_event *read, size_t bytes) {
  const uint8_t *said = read->bytes + sizeof read->entry;
  bytes -= sizeof read->entry;
  if (kind == FI_CONNREQ) {
    gfc_knock(engine, read->entry.info, said, bytes);
    return;
  }
  gfc_connection *connection = find(engine, read->entry.fid);
  if (connection == NULL)
    return;
  if (kind == FI_CONNECTED)
    gfc_established(connection, said, bytes);
  if (kind != FI_SHUTDOWN)
    return;
  /* What came before the end counts. */
  connection->ready = true;
  while (connection->ready && connection->state == GFC_UP)
    gfc_receive(connection);
  gfc_doom(connection, GFSMITH_EPEER, "the peer has closed the connection");
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

/* What is to be closed is closed, what has proved itself comes up. The layer above may end further
 * ones meanwhile. */
static void settle(gfc_engine *engine) {
  gfc_connection *connection = TAILQ_FIRST(&engine->connections);
  while (connection != NULL) {
    if (connection->state == GFC_DOWN)
      gfc_close(connection);
    else if (connection->state == GFC_PROVED)
      gfc_come_up(connection);
    else {
      connection = TAILQ_NEXT(connection, entry);
      continue;
    }
    connection = TAILQ_FIRST(&engine->connections);
  }
}

/* May we sleep until a descriptor is readable? */
static bool may_sleep(gfc_engine *engine) {
  struct fid *eq = &engine->fabric.eq->fid;
  bool sleep = fi_trywait(engine->fabric.fabric, &eq, 1) == 0 && !gfc_works_pending(&engine->works);
  if (!sleep)
    read_events(engine);
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &engine->connections, entry) {
    if (connection->state == GFC_DOWN || connection->state == GFC_PROVED)
      sleep = false;
    else if (connection->state == GFC_UP && connection->touched && !connection->ready) {
      struct fid *cq = &connection->cq->fid;
      connection->ready = fi_trywait(engine->fabric.fabric, &cq, 1) != 0;
      connection->touched = connection->ready;
    }
    sleep = sleep && !connection->ready;
  }
  return sleep;
}

static int timeout(gfc_engine *engine) {
  if (!may_sleep(engine))
    return 0;
  int wait = gfc_timers_wait(&engine->timers);
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &engine->connections, entry) {
    if (connection->stalled && (wait < 0 || wait > 1))
      wait = 1;
  }
  return wait;
}

static void sleep_and_mark(gfc_engine *engine) {
  enum { EVENTS = 64 };
  struct epoll_event events[EVENTS];
  int count = epoll_wait(engine->events, events, EVENTS, timeout(engine));
  for (int i = 0; i < count; i++) {
    void *what = events[i].data.ptr;
    if (what == &engine->works) {
      uint64_t woken;
      while (read(engine->works.wake, &woken, sizeof woken) > 0)
        continue;
    } else if (what == &engine->fabric) {
      read_events(engine);
    } else {
      ((gfc_connection *)what)->ready = true;
    }
  }
}

static void turn(gfc_engine *engine) {
  gfc_works_run(&engine->works, engine->above);
  gfc_timers_run(&engine->timers);
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &engine->connections, entry) {
    if (connection->ready)
      gfc_receive(connection);
    gfc_flush(connection);
  }
  settle(engine);
}

static void finish(gfc_engine *engine) {
  engine->upper->stop(engine->above);
  gfc_peers_end(engine);
  gfc_connection *connection;
  TAILQ_FOREACH(connection, &engine->connections, entry) {
    gfc_doom(connection, GFSMITH_ECANCELED, "the node is being destroyed");
  }
  settle(engine);
  gfc_works_close(&engine->works);
  while (gfc_works_pending(&engine->works))
    gfc_works_run(&engine->works, engine->above);
}

static void *run(void *context) {
  gfc_engine *engine = context;
  atomic_store(&engine->self, pthread_self());
  atomic_store(&engine->running, true);
  gfc_gate_open(engine);
  while (!atomic_load(&engine->ending)) {
    turn(engine);
    sleep_and_mark(engine);
  }
  finish(engine);
  gfc_gate_close(engine);
  return NULL;
}

int gfc_engine_start(gfc_engine *engine, const gfc_upper *upper, void *above) {
  sigset_t all, before;
  engine->upper = upper;
  engine->above = above;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the application's */
  int status = pthread_create(&engine->thread, NULL, run, engine);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status == 0 ? GFSMITH_OK : GFSMITH_ENOMEM;
}

void gfc_engine_stop(gfc_engine *engine) {
  atomic_store(&engine->ending, true);
  gfc_works_wake(&engine->works);
  pthread_join(engine->thread, NULL);
}

void gfc_engine_destroy(gfc_engine *engine) {
  gfc_fabric_close(&engine->fabric);
  if (engine->events >= 0)
    close(engine->events);
  gfc_works_destroy(&engine->works);
  gfc_peers_free(engine);
  gfc_key_clear(&engine->key);
  free(engine);
}

int gfc_run(gfc_engine *engine, void (*work)(void *upper, void *context), void *context) {
  return gfc_works_add(&engine->works, work, context, !gfc_in_engine(engine));
}

bool gfc_in_engine(const gfc_engine *engine) {
  return atomic_load(&engine->running) && pthread_equal(atomic_load(&engine->self), pthread_self());
}

gfc_timers *gfc_engine_timers(gfc_engine *engine) { return &engine->timers; }
bool gfc_can_trigger(const gfc_engine *engine) { return engine->fabric.triggers; }
struct fid_domain *gfc_domain(const gfc_engine *engine) { return engine->fabric.domain; }
