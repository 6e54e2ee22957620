#include "mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* A control message or write on its way. A write's bytes are read when it is transmitted and not
 * before, and they land when it is delivered: memory that is gone too early is noticed. */
typedef struct packet {
  TAILQ_ENTRY(packet) entry;
  bool write, transmitted;
  uint8_t type;
  size_t bytes;
  uint8_t *body;
  gfc_piece piece[GFC_PIECES_MAX];
  unsigned pieces;
  uint32_t data;
  void *context;
  bool silent; /* delivered, but nobody is told: what was left out */
} packet;

typedef struct sent {
  TAILQ_ENTRY(sent) entry;
  unsigned peer;
  void *context;
  int status;
} sent;

typedef struct work {
  TAILQ_ENTRY(work) entry;
  void (*run)(void *, void *);
  void *context;
} work;

typedef struct record {
  TAILQ_ENTRY(record) entry;
  struct gfc_engine *engine;
  uint8_t *memory;
  size_t bytes;
  unsigned purpose;
  uint64_t key, base;
} record;

typedef enum link_state { LINK_UP, LINK_FALLING, LINK_DOWN, LINK_RISING } link_state;

struct gfc_engine {
  mock *world;
  unsigned rank;
  gfsmith_node node;
  TAILQ_HEAD(, packet) out[RANKS];
  TAILQ_HEAD(, sent) sent;
  TAILQ_HEAD(, work) work;
  TAILQ_HEAD(, record) records;
  gfc_timers timers;
  link_state link[RANKS];
  int status[RANKS]; /* of a link that falls */
  bool dead, silent, running;
};

struct mock {
  random_source *random;
  unsigned nodes, steps, fault_step, victim;
  uint64_t now, keys;
  mock_fault fault;
  bool met, offsets;
  struct gfc_engine engine[RANKS];
};

static mock *the_world; /* gfc_now has no argument */

uint64_t gfc_now(void) { return the_world->now; }

/* ---- what link.h promises ---- */

static bool strikes(gfc_engine *engine, mock_fault fault) {
  mock *world = engine->world;
  if (world->fault != fault || world->met || world->steps < world->fault_step ||
      world->victim != engine->rank)
    return false;
  world->met = true;
  return true;
}

int gfc_register(gfc_engine *engine, void *memory, size_t bytes, unsigned purpose,
                 struct fid_cntr *counter, gfc_registration *registration) {
  record *made = calloc(1, sizeof *made);
  REQUIRE(made != NULL && counter == NULL && bytes > 0, "registration of %zu bytes", bytes);
  mock *world = engine->world;
  made->engine = engine;
  made->memory = memory;
  made->bytes = bytes;
  made->purpose = purpose;
  made->key = ++world->keys * UINT64_C(0x9e3779b97f4a7c15);
  made->base = world->offsets ? 0 : (uint64_t)(uintptr_t)memory;
  TAILQ_INSERT_TAIL(&engine->records, made, entry);
  *registration = (gfc_registration){made, made, made->key, made->base};
  return GFSMITH_OK;
}

void gfc_unregister(gfc_registration *registration) {
  record *old = registration->mr;
  if (old != NULL)
    TAILQ_REMOVE(&old->engine->records, old, entry);
  free(old);
  *registration = (gfc_registration){NULL, NULL, 0, 0};
}

int gfc_control(gfc_engine *engine, uint16_t rank, uint8_t type, const void *body, size_t bytes) {
  REQUIRE(engine->running && rank < RANKS && bytes <= GFSMITH_MESSAGE_MAX, "control");
  if (engine->link[rank] != LINK_UP)
    return GFSMITH_EPEER;
  if (strikes(engine, FAULT_MEMORY))
    return GFSMITH_ENOMEM;
  packet *made = calloc(1, sizeof *made);
  made->type = type;
  made->bytes = bytes;
  made->body = malloc(bytes);
  memcpy(made->body, body, bytes);
  if (strikes(engine, FAULT_BABBLE)) {
    unsigned bit = below(engine->world->random, (unsigned)bytes * 8);
    made->body[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  TAILQ_INSERT_TAIL(&engine->out[rank], made, entry);
  return GFSMITH_OK;
}

int gfc_write(gfc_engine *engine, uint16_t rank, const gfc_writing *writing) {
  REQUIRE(engine->running && rank < RANKS && writing->pieces <= GFC_PIECES_MAX, "write");
  if (engine->link[rank] != LINK_UP)
    return GFSMITH_EPEER;
  if (strikes(engine, FAULT_MEMORY))
    return GFSMITH_ENOMEM;
  packet *made = calloc(1, sizeof *made);
  made->write = true;
  made->pieces = writing->pieces;
  made->data = writing->data;
  made->context = writing->context;
  memcpy(made->piece, writing->piece, writing->pieces * sizeof *writing->piece);
  TAILQ_INSERT_TAIL(&engine->out[rank], made, entry);
  return GFSMITH_OK;
}

int gfc_run(gfc_engine *engine, void (*run)(void *, void *), void *context) {
  if (strikes(engine, FAULT_MEMORY))
    return GFSMITH_ENOMEM;
  work *made = calloc(1, sizeof *made);
  made->run = run;
  made->context = context;
  TAILQ_INSERT_TAIL(&engine->work, made, entry);
  return GFSMITH_OK;
}

bool gfc_in_engine(const gfc_engine *engine) { return engine->running; }
bool gfc_connected(const gfc_engine *engine, uint16_t rank) {
  return engine->link[rank] == LINK_UP;
}
int gfc_trouble(const gfc_engine *engine, uint16_t rank, char *reason) {
  reason[0] = 0;
  return engine->link[rank] == LINK_UP ? GFSMITH_OK : GFSMITH_EPEER;
}
struct fid_domain *gfc_domain(const gfc_engine *engine) {
  (void)engine; /* nothing is triggered here */
  return NULL;
}
gfc_timers *gfc_engine_timers(gfc_engine *engine) { return &engine->timers; }

void gfc_timer_start(gfc_timers *timers, gfc_timer *timer, uint64_t at, void (*over)(gfc_timer *)) {
  gfc_timer_stop(timers, timer);
  timer->at = at;
  timer->over = over;
  TAILQ_INSERT_TAIL(timers, timer, entry);
}

void gfc_timer_stop(gfc_timers *timers, gfc_timer *timer) {
  if (timer->at != 0)
    TAILQ_REMOVE(timers, timer, entry);
  timer->at = 0;
}

/* ---- links that go down ---- */

static void note_sent(gfc_engine *engine, unsigned peer, void *context, int status) {
  sent *made = calloc(1, sizeof *made);
  made->peer = peer;
  made->context = context;
  made->status = status;
  TAILQ_INSERT_TAIL(&engine->sent, made, entry);
}

static void free_packet(packet *old) {
  for (unsigned n = 0; old->write && old->transmitted && n < old->pieces; n++)
    free((void *)(uintptr_t)old->piece[n].local);
  free(old->body);
  free(old);
}

static void half_down(gfc_engine *engine, unsigned peer, int status) {
  packet *old;
  if (engine->link[peer] != LINK_UP)
    return;
  while ((old = TAILQ_FIRST(&engine->out[peer])) != NULL) {
    TAILQ_REMOVE(&engine->out[peer], old, entry);
    if (old->write && !old->transmitted)
      note_sent(engine, peer, old->context, GFSMITH_EPEER);
    free_packet(old);
  }
  engine->link[peer] = LINK_FALLING;
  engine->status[peer] = status;
}

static void link_down(mock *world, unsigned a, unsigned b, int status) {
  half_down(&world->engine[a], b, status);
  half_down(&world->engine[b], a, GFSMITH_EPEER);
}

void gfc_drop(gfc_engine *engine, uint16_t rank, int status, const char *reason) {
  REQUIRE(engine->running && reason != NULL && status < 0, "drop");
  link_down(engine->world, engine->rank, rank, status);
}

/* ---- what can happen ---- */

static void run_work(gfc_engine *engine) {
  work *next = TAILQ_FIRST(&engine->work);
  TAILQ_REMOVE(&engine->work, next, entry);
  next->run(engine->node.operations, next->context);
  free(next);
}

static void run_sent(gfc_engine *engine) {
  sent *next = TAILQ_FIRST(&engine->sent);
  TAILQ_REMOVE(&engine->sent, next, entry);
  gfc_operations_upper.sent(engine->node.operations, next->context, next->status);
  free(next);
}

static bool has_sent(const gfc_engine *engine, unsigned peer) {
  const sent *one;
  TAILQ_FOREACH(one, &engine->sent, entry) {
    if (one->peer == peer)
      return true;
  }
  return false;
}

static packet *to_transmit(gfc_engine *engine, unsigned peer) {
  packet *one;
  TAILQ_FOREACH(one, &engine->out[peer], entry) {
    if (!one->transmitted)
      return one;
  }
  return NULL;
}

static void spoil(gfc_engine *engine, packet *one) {
  random_source *random = engine->world->random;
  gfc_piece *payload = &one->piece[0], *trailer = &one->piece[one->pieces - 1];
  mock_fault fault = engine->world->fault;
  if (one->pieces < 2 && fault != FAULT_TRAILER && fault != FAULT_SKIP)
    return;
  if (!strikes(engine, fault))
    return;
  uint8_t *bytes = (uint8_t *)(uintptr_t)payload->local;
  if (fault == FAULT_PAYLOAD) {
    bytes[below(random, (unsigned)payload->bytes)] ^= (uint8_t)(1 + below(random, 255));
  } else if (fault == FAULT_TRAILER) {
    bytes = (uint8_t *)(uintptr_t)trailer->local;
    bytes[below(random, (unsigned)trailer->bytes)] ^= (uint8_t)(1 + below(random, 255));
  } else if (fault == FAULT_SHORT) {
    payload->bytes -= 1;
    trailer->bytes = 0;
  } else {
    one->silent = true;
  }
}

static void transmit(gfc_engine *engine, unsigned peer) {
  packet *one = to_transmit(engine, peer);
  one->transmitted = true;
  if (!one->write)
    return;
  for (unsigned n = 0; n < one->pieces; n++) {
    gfc_piece *piece = &one->piece[n];
    const record *source = piece->descriptor;
    const uint8_t *from = piece->local;
    REQUIRE(from >= source->memory && from + piece->bytes <= source->memory + source->bytes,
            "a write from memory that is not registered");
    uint8_t *copy = malloc(piece->bytes + 1);
    memcpy(copy, from, piece->bytes);
    piece->local = copy;
  }
  mock_fault fault = engine->world->fault;
  if (fault == FAULT_PAYLOAD || fault == FAULT_TRAILER || fault == FAULT_SHORT ||
      fault == FAULT_SKIP)
    spoil(engine, one);
  note_sent(engine, peer, one->context, GFSMITH_OK);
}

/* @return false: no such memory */
static bool land(gfc_engine *engine, const gfc_piece *piece) {
  const record *target;
  TAILQ_FOREACH(target, &engine->records, entry) {
    uint64_t offset = piece->remote - target->base;
    if (target->key == piece->key && (target->purpose & GFC_TARGET) && offset <= target->bytes &&
        piece->bytes <= target->bytes - offset) {
      memcpy(target->memory + offset, piece->local, piece->bytes);
      return true;
    }
  }
  return false;
}

static void deliver(gfc_engine *from, gfc_engine *to) {
  packet *one = TAILQ_FIRST(&from->out[to->rank]);
  TAILQ_REMOVE(&from->out[to->rank], one, entry);
  bool fine = true;
  for (unsigned n = 0; one->write && !one->silent && fine && n < one->pieces; n++)
    fine = land(to, &one->piece[n]);
  if (!fine)
    link_down(from->world, from->rank, to->rank, GFSMITH_EPEER);
  else if (!one->write)
    gfc_operations_upper.control(to->node.operations, (uint16_t)from->rank, one->type, one->body,
                                 one->bytes);
  else if (!one->silent)
    gfc_operations_upper.written(to->node.operations, (uint16_t)from->rank, one->data);
  free_packet(one);
}

static void tell_link(gfc_engine *engine, unsigned peer) {
  gfc_engine *other = &engine->world->engine[peer];
  if (engine->link[peer] == LINK_FALLING) {
    engine->link[peer] = LINK_DOWN;
    gfc_operations_upper.down(engine->node.operations, (uint16_t)peer, engine->status[peer],
                              "it is down");
    if (other->link[engine->rank] == LINK_DOWN && !engine->dead && !other->dead)
      engine->link[peer] = other->link[engine->rank] = LINK_RISING;
  } else {
    engine->link[peer] = LINK_UP;
    gfc_operations_upper.up(engine->node.operations, (uint16_t)peer);
  }
}

/* One kind of event at this node, towards this peer, if it can happen. */
static bool happen(gfc_engine *engine, unsigned kind, unsigned peer) {
  gfc_engine *other = &engine->world->engine[peer];
  bool can = false;
  engine->running = true;
  if (kind == 0 && (can = !TAILQ_EMPTY(&engine->work)))
    run_work(engine);
  else if (kind == 1 && (can = !TAILQ_EMPTY(&engine->sent)))
    run_sent(engine);
  else if (kind == 2 && (can = to_transmit(engine, peer) != NULL))
    transmit(engine, peer);
  else if (kind == 3 &&
           (can = other->link[engine->rank] == LINK_UP && engine->link[peer] == LINK_UP &&
                  !TAILQ_EMPTY(&other->out[engine->rank]) &&
                  TAILQ_FIRST(&other->out[engine->rank])->transmitted))
    deliver(other, engine);
  else if (kind == 4 && (can = (engine->link[peer] == LINK_FALLING && !has_sent(engine, peer)) ||
                               (engine->link[peer] == LINK_RISING && !other->silent)))
    tell_link(engine, peer);
  engine->running = false;
  return can;
}

static bool pass_time(mock *world) {
  gfc_timer *next = NULL;
  gfc_engine *whose = NULL;
  for (unsigned n = 0; n < world->nodes; n++) {
    gfc_timer *timer;
    TAILQ_FOREACH(timer, &world->engine[n].timers, entry) {
      if (!world->engine[n].silent && (next == NULL || timer->at < next->at)) {
        next = timer;
        whose = &world->engine[n];
      }
    }
  }
  if (next == NULL)
    return false;
  world->now = next->at > world->now ? next->at : world->now;
  gfc_timer_stop(&whose->timers, next);
  whose->running = true;
  next->over(next);
  whose->running = false;
  return true;
}

static void kill_node(mock *world, gfc_engine *engine) {
  bool more = true;
  engine->dead = true;
  engine->silent = false;
  for (unsigned peer = 0; peer < world->nodes; peer++) {
    if (peer != engine->rank)
      link_down(world, engine->rank, peer, GFSMITH_EPEER);
  }
  engine->running = true;
  gfc_operations_upper.stop(engine->node.operations);
  while (more) {
    more = false;
    for (unsigned kind = 0; kind < 5; kind++) {
      for (unsigned peer = 0; peer < world->nodes; peer++)
        more |= peer != engine->rank && happen(engine, kind, peer);
    }
  }
  engine->silent = true;
}

static void strike(mock *world) {
  gfc_engine *victim = &world->engine[world->victim];
  unsigned peer = (world->victim + 1 + below(world->random, world->nodes - 1)) % world->nodes;
  if (world->fault == FAULT_KILL && strikes(victim, FAULT_KILL))
    kill_node(world, victim);
  else if (world->fault == FAULT_SILENT && strikes(victim, FAULT_SILENT))
    victim->silent = true;
  else if (world->fault == FAULT_LINK && strikes(victim, FAULT_LINK))
    link_down(world, world->victim, peer, GFSMITH_EPEER);
}

bool mock_step(mock *world, bool time) {
  enum { KINDS = 5 };
  unsigned all = world->nodes * world->nodes * KINDS, first = below(world->random, all);
  world->steps++;
  strike(world);
  for (unsigned n = 0; n < all; n++) {
    unsigned at = (first + n) % all, kind = at % KINDS, peer = at / KINDS % world->nodes;
    gfc_engine *engine = &world->engine[at / KINDS / world->nodes];
    if (!engine->silent && peer != engine->rank && happen(engine, kind, peer))
      return true;
  }
  return time && pass_time(world);
}

/* ---- a world ---- */

mock *mock_create(random_source *random, unsigned nodes, size_t memory) {
  mock *world = calloc(1, sizeof *world);
  gfsmith_node_options options = {.memory = memory};
  the_world = world;
  world->random = random;
  world->nodes = nodes;
  world->now = MOCK_START;
  world->offsets = below(random, 2);
  for (unsigned n = 0; n < nodes; n++) {
    gfc_engine *engine = &world->engine[n];
    engine->world = world;
    engine->rank = n;
    engine->node = (gfsmith_node){
        .engine = engine, .rank = (uint16_t)n, .deadline_ms = 30000, .memory = memory};
    for (unsigned peer = 0; peer < RANKS; peer++) {
      TAILQ_INIT(&engine->out[peer]);
      engine->link[peer] = LINK_RISING;
    }
    TAILQ_INIT(&engine->sent);
    TAILQ_INIT(&engine->work);
    TAILQ_INIT(&engine->records);
    TAILQ_INIT(&engine->timers);
    int status = gfc_operations_create(&engine->node.operations, &engine->node, &options);
    REQUIRE(status == GFSMITH_OK, "operations: %d", status);
  }
  return world;
}

gfsmith_node *mock_node(mock *world, unsigned rank) { return &world->engine[rank].node; }
bool mock_alive(const mock *world, unsigned rank) {
  return !world->engine[rank].dead && !world->engine[rank].silent;
}

void mock_plan(mock *world, mock_fault fault, unsigned step, unsigned victim) {
  world->fault = fault;
  world->fault_step = world->steps + step;
  world->victim = victim;
}

bool mock_met(const mock *world) { return world->met; }
uint64_t mock_time(const mock *world) { return world->now; }

void mock_clean(mock *world, unsigned rank) {
  const record *one;
  TAILQ_FOREACH(one, &world->engine[rank].records, entry)
  REQUIRE(!(one->purpose & GFC_TARGET), "rank %u: peers may still write", rank);
}

void mock_destroy(mock *world) {
  for (unsigned n = 0; n < world->nodes; n++)
    kill_node(world, &world->engine[n]);
  for (unsigned n = 0; n < world->nodes; n++) {
    gfc_operations_destroy(world->engine[n].node.operations);
    REQUIRE(TAILQ_EMPTY(&world->engine[n].records), "rank %u: memory is still registered", n);
    REQUIRE(TAILQ_EMPTY(&world->engine[n].timers), "rank %u: a timer still runs", n);
  }
  free(world);
}
