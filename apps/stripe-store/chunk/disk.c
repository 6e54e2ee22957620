#include "disk.h"

#include "common/fault.h"
#include "common/record.h"
#include "common/report.h"
#include "database.h"
#include "place.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
  BATCH = 32 << 20, /* bytes of a transaction, or more in one item */
  IDLE_S = 10       /* without a change until the disk is probed, which may have failed */
};

typedef enum state {
  CLOSED,
  OPENING, /* the thread checks the database */
  READY,
  FAILED /* the thread ends; the reason is in `reason` */
} state;

/* A change that waits, or is done. */
typedef struct order {
  change change;
  kept_status status;
  struct order *next;
  uint8_t bytes[]; /* of the item, except those of a chunk */
} order;

typedef struct queue {
  order *first, **last;
} queue;

typedef struct disk {
  shelf shelf;
  char *folder, path[FILES_PATH];
  uint64_t megabytes;
  int lock, events;
  database reader; /* of the loop, after the thread has opened it */
  bool connected;  /* the loop uses it */
  pthread_t thread;
  database writer; /* of the thread */
  bool used;       /* there has been a database */
  atomic_bool stop;
  pthread_mutex_t mutex; /* of the members below */
  pthread_cond_t wake;
  state state;
  char reason[sizeof((shelf *)NULL)->reason];
  queue waiting, done;
} disk;

static disk *of(shelf *s) { return (disk *)s; }

static void queue_clear(queue *q) { *q = (queue){NULL, &q->first}; }

static void queue_move(queue *to, queue *from) {
  *to->last = from->first;
  if (from->first != NULL)
    to->last = from->last;
  queue_clear(from);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void ring(disk *d) {
  const uint64_t one = 1;
  while (write(d->events, &one, sizeof one) < 0) /* the loop must not miss it */
    sched_yield();
}

static kept_status open_database(const disk *d, database *b) {
  char path[FILES_PATH];
  if (files_path(path, d->folder, PLACE_DATABASE))
    return database_open(b, path, d->megabytes);
  snprintf(b->reason, sizeof b->reason, "%s", strerror(errno));
  return KEPT_GONE;
}

/* The database is damaged: begin with an empty one, which the agent will fill. */
static kept_status begin_empty(disk *d) {
  report("%s is damaged: %s; it is renamed to " PLACE_DAMAGED, d->path, d->writer.reason);
  database_close(&d->writer);
  if (place_clear(d->folder)) {
    d->used = false;
    return open_database(d, &d->writer);
  }
  snprintf(d->writer.reason, sizeof d->writer.reason, "it cannot be renamed");
  return KEPT_GONE;
}

static kept_status open_checked(disk *d, uint64_t *deleted) {
  database_close(&d->writer);
  kept_status status = open_database(d, &d->writer);
  return status == KEPT_OK ? database_check(&d->writer, &d->stop, deleted) : status;
}

/* A system call that fails once may look like damage, so damage must be found twice. */
static kept_status open_writer(disk *d) {
  uint64_t deleted = 0;
  kept_status status = open_checked(d, &deleted);
  if (status == KEPT_DAMAGED)
    status = open_checked(d, &deleted);
  if (status == KEPT_DAMAGED)
    status = begin_empty(d);
  if (deleted > 0)
    report("%s: %llu damaged items, which are missing now", d->path, (unsigned long long)deleted);
  if (status == KEPT_OK && place_note(d->folder)) {
    d->used = true;
    return KEPT_OK;
  }
  if (status == KEPT_OK)
    snprintf(d->writer.reason, sizeof d->writer.reason, "its place cannot be written");
  return KEPT_GONE;
}

/* A disk may have been mounted at the path between them, and the writer have created a database in
 * the mount point. */
static kept_status open_both(disk *d) {
  kept_status status = open_writer(d);
  if (status != KEPT_OK)
    return status;
  (void)fault_point("disk.opened");
  status = open_database(d, &d->reader);
  if (status == KEPT_OK && database_is_same(&d->writer, &d->reader))
    return KEPT_OK;
  snprintf(d->writer.reason, sizeof d->writer.reason, "%s",
           status == KEPT_OK ? "another database has come there" : d->reader.reason);
  return KEPT_GONE;
}

/* Wait for an order, the end, or IDLE_S. */
static void wait_for_order(disk *d) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += IDLE_S;
  while (d->waiting.first == NULL && !atomic_load(&d->stop) &&
         pthread_cond_timedwait(&d->wake, &d->mutex, &until) == 0)
    ;
}

/* The longest beginning of the queue that fits a transaction. NULL: none came. */
static order *take_batch(disk *d) {
  size_t bytes = 0;
  pthread_mutex_lock(&d->mutex);
  wait_for_order(d);
  order *first = d->waiting.first, **end = &d->waiting.first;
  for (; *end != NULL && (bytes == 0 || bytes + (*end)->change.length <= BATCH);
       end = &(*end)->next)
    bytes += (*end)->change.length;
  d->waiting.first = *end;
  if (*end == NULL)
    d->waiting.last = &d->waiting.first;
  *end = NULL;
  pthread_mutex_unlock(&d->mutex);
  return first;
}

/* Apply orders in one transaction, up to `end`. Without any, only probe the disk. */
static kept_status transact(database *d, const order *first, const order *end) {
  kept_status status = database_begin(d);
  if (status == KEPT_OK && first == NULL)
    status = database_touch(d);
  for (const order *o = first; status == KEPT_OK && o != end; o = o->next)
    status = database_change(d, &o->change);
  if (status == KEPT_OK)
    status = database_commit(d);
  if (status != KEPT_OK)
    database_rollback(d);
  return status;
}

/* The same; without room in the log, once more at its beginning. */
static kept_status perform(database *d, const order *first, const order *end) {
  kept_status status = transact(d, first, end);
  if (status == KEPT_FULL && database_begin_log(d))
    status = transact(d, first, end);
  return status;
}

/* Apply an order of a value that exists beyond the limit. */
static kept_status perform_beyond(disk *d, const order *o) {
  kept_status status = database_limit(&d->writer, DISK_MOST);
  if (status == KEPT_OK)
    status = perform(&d->writer, o, o->next);
  (void)database_limit(&d->writer, d->megabytes);
  return status;
}

static kept_status perform_one(disk *d, const order *o) {
  kept_status status = perform(&d->writer, o, o->next);
  return status == KEPT_FULL && o->change.exists ? perform_beyond(d, o) : status;
}

static bool fatal(kept_status status) { return status == KEPT_GONE || status == KEPT_DAMAGED; }

/* Apply a batch; if there is no room for all of it, each order for itself. */
static kept_status work_off(disk *d, order *batch) {
  kept_status status = perform(&d->writer, batch, NULL);
  bool single = status != KEPT_OK && !fatal(status);
  for (order *o = batch; o != NULL; o = o->next) {
    if (single && !fatal(status))
      status = perform_one(d, o);
    o->status = fatal(status) ? KEPT_GONE : status;
  }
  return status;
}

static void finish(disk *d, order *batch) {
  queue ended;
  queue_clear(&ended);
  ended.first = batch;
  while (*ended.last != NULL)
    ended.last = &(*ended.last)->next;
  pthread_mutex_lock(&d->mutex);
  queue_move(&d->done, &ended);
  pthread_mutex_unlock(&d->mutex);
  ring(d);
}

static void enter(disk *d, state now) {
  pthread_mutex_lock(&d->mutex);
  d->state = now;
  snprintf(d->reason, sizeof d->reason, "%.200s: %s", d->path, d->writer.reason);
  pthread_mutex_unlock(&d->mutex);
  ring(d);
}

static void *work(void *owner) {
  disk *d = owner;
  order *batch;
  kept_status status = open_both(d);
  if (!fatal(status))
    enter(d, READY);
  else
    enter(d, FAILED);
  while (!fatal(status) && ((batch = take_batch(d)) != NULL || !atomic_load(&d->stop))) {
    status = work_off(d, batch);
    if (fatal(status))
      enter(d, FAILED);
    finish(d, batch);
  }
  database_close(&d->writer);
  return NULL;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static state state_of(const disk *d) {
  disk *s = (disk *)d; /* whose mutex is locked */
  pthread_mutex_lock(&s->mutex);
  state now = s->state;
  pthread_mutex_unlock(&s->mutex);
  return now;
}

static void call_back(disk *d, order *o) {
  while (o != NULL) {
    order *next = o->next;
    if (o->status == KEPT_FULL)
      snprintf(d->shelf.reason, sizeof d->shelf.reason, "its disk is full");
    else if (o->status == KEPT_TOO_LARGE)
      snprintf(d->shelf.reason, sizeof d->shelf.reason, "larger than the largest item");
    else if (o->status != KEPT_OK)
      snprintf(d->shelf.reason, sizeof d->shelf.reason, "%s", d->reason);
    o->change.ticket.done(d->shelf.owner, &o->change.ticket, o->status);
    free(o);
    o = next;
  }
}

static void disk_disconnect(shelf *s) {
  disk *d = of(s);
  queue rest;
  if (state_of(d) == CLOSED)
    return;
  pthread_mutex_lock(&d->mutex);
  atomic_store(&d->stop, true);
  pthread_cond_signal(&d->wake);
  pthread_mutex_unlock(&d->mutex);
  pthread_join(d->thread, NULL);
  d->connected = false;
  database_close(&d->reader);
  close(d->lock);
  d->state = CLOSED;
  for (order *o = d->waiting.first; o != NULL; o = o->next)
    o->status = KEPT_GONE;
  queue_clear(&rest);
  queue_move(&rest, &d->done);
  queue_move(&rest, &d->waiting);
  call_back(d, rest.first);
}

static void disk_destroy(shelf *s) {
  disk *d = of(s);
  disk_disconnect(s);
  close(d->events);
  pthread_cond_destroy(&d->wake);
  pthread_mutex_destroy(&d->mutex);
  free(d->folder);
  free(d);
}

static kept_status say(disk *d, kept_status status, const char *why) {
  snprintf(d->shelf.reason, sizeof d->shelf.reason, "%s", why);
  return status;
}

static kept_status start(disk *d) {
  kept_status status =
      place_take(d->folder, d->used, &d->lock, d->shelf.reason, sizeof d->shelf.reason);
  if (status == KEPT_OK) {
    atomic_store(&d->stop, false);
    d->state = OPENING;
    if (pthread_create(&d->thread, NULL, work, d) == 0)
      return say(d, KEPT_GONE, "the chunks are being checked");
    d->state = CLOSED;
    status = say(d, KEPT_GONE, "no thread can be started");
  }
  if (d->lock >= 0)
    close(d->lock);
  return status;
}

static kept_status disk_connect(shelf *s) {
  disk *d = of(s);
  switch (state_of(d)) {
  case CLOSED:
    return start(d);
  case OPENING:
    return KEPT_GONE;
  case FAILED:
    say(d, KEPT_GONE, d->reason);
    disk_disconnect(s);
    return KEPT_GONE;
  case READY:
    break;
  }
  d->connected = true;
  return KEPT_OK;
}

static bool disk_connected(const shelf *s) { return ((const disk *)s)->connected; }

static int disk_watch(const shelf *s) { return ((const disk *)s)->events; }

static kept_status disk_turn(shelf *s) {
  disk *d = of(s);
  uint64_t rung;
  queue done;
  if (read(d->events, &rung, sizeof rung) < 0)
    return KEPT_OK;
  queue_clear(&done);
  pthread_mutex_lock(&d->mutex);
  bool failed = d->state == FAILED;
  queue_move(&done, &d->done);
  pthread_mutex_unlock(&d->mutex);
  call_back(d, done.first);
  return failed ? say(d, KEPT_GONE, d->reason) : KEPT_OK;
}

static void refuse_change(disk *d, const change *c, kept_status status, const char *why) {
  say(d, status, why);
  c->ticket.done(d->shelf.owner, &c->ticket, status);
}

static void disk_apply(shelf *s, const change *c) {
  disk *d = of(s);
  size_t copied = c->kind == SHELF_CHUNK ? 0 : c->length;
  if (!disk_connected(s)) {
    refuse_change(d, c, KEPT_GONE, "the chunks are not accessible");
    return;
  }
  order *o = copied > RECORD_MAX ? NULL : calloc(1, sizeof *o + copied);
  if (o == NULL) {
    refuse_change(d, c, copied > RECORD_MAX ? KEPT_TOO_LARGE : KEPT_GONE, "no memory for it");
    return;
  }
  o->change = *c;
  if (copied > 0) {
    memcpy(o->bytes, c->bytes, copied);
    o->change.bytes = o->bytes;
  }
  pthread_mutex_lock(&d->mutex);
  *d->waiting.last = o;
  d->waiting.last = &o->next;
  pthread_cond_signal(&d->wake);
  pthread_mutex_unlock(&d->mutex);
}

/* A damaged database is treated at the next start. */
static kept_status reading(disk *d, kept_status status) {
  if (status != KEPT_OK)
    say(d, status, d->reader.reason);
  return status == KEPT_DAMAGED ? KEPT_GONE : status;
}

static kept_status disk_get(shelf *s, shelf_kind kind, uint64_t version, uint8_t **bytes,
                            size_t *length) {
  disk *d = of(s);
  if (!disk_connected(s))
    return say(d, KEPT_GONE, "the chunks are not accessible");
  return reading(d, database_get(&d->reader, kind, version, bytes, length));
}

static kept_status disk_list(shelf *s, kept_list *list) {
  disk *d = of(s);
  if (!disk_connected(s))
    return say(d, KEPT_GONE, "the chunks are not accessible");
  return reading(d, database_list(&d->reader, list));
}

static const shelf_type type = {disk_connect, disk_connected, disk_disconnect,
                                disk_watch,   disk_turn,      disk_apply,
                                disk_get,     disk_list,      disk_destroy};

shelf *disk_create(const char *folder, uint64_t megabytes, bool used, void *owner) {
  disk *d = calloc(1, sizeof *d);
  if (d == NULL || (d->folder = strdup(folder)) == NULL)
    out_of_memory();
  d->shelf = (shelf){.type = &type, .owner = owner, .own = true};
  d->megabytes = megabytes;
  d->used = used;
  d->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (d->events < 0 ||
      (size_t)snprintf(d->path, sizeof d->path, "%s/" PLACE_DATABASE, folder) >= sizeof d->path)
    out_of_memory();
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&d->mutex, NULL);
  pthread_cond_init(&d->wake, &monotonic);
  pthread_condattr_destroy(&monotonic);
  queue_clear(&d->waiting);
  queue_clear(&d->done);
  return &d->shelf;
}
