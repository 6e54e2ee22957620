/* The functions of link.h on the mock network, and links that go down. */
#include <stdlib.h>
#include <string.h>

#include "mock_world.h"

bool mock_strikes(gfc_engine *engine, mock_fault fault) {
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
  if (mock_strikes(engine, FAULT_MEMORY))
    return GFSMITH_ENOMEM;
  packet *made = calloc(1, sizeof *made);
  made->type = type;
  made->bytes = bytes;
  made->body = malloc(bytes);
  memcpy(made->body, body, bytes);
  if (mock_strikes(engine, FAULT_BABBLE)) {
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
  if (mock_strikes(engine, FAULT_MEMORY))
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
  if (mock_strikes(engine, FAULT_MEMORY))
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
bool gfc_can_trigger(const gfc_engine *engine) {
  (void)engine;
  return false;
}
/* The mock writes no tags, but the attacker of mock_events.c requires that slices are copied. */
bool gfc_sealed(const gfc_engine *engine) {
  (void)engine;
  return true;
}
bool gfc_authentic(const gfc_engine *engine, uint16_t rank, uint32_t data, const uint8_t *payload,
                   size_t bytes, const uint8_t *tag) {
  (void)engine, (void)rank, (void)data, (void)payload, (void)bytes, (void)tag;
  return true;
}
struct fid_domain *gfc_domain(const gfc_engine *engine) {
  (void)engine; /* the mock triggers nothing */
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

void mock_note_sent(gfc_engine *engine, unsigned peer, void *context, int status) {
  sent *made = calloc(1, sizeof *made);
  made->peer = peer;
  made->context = context;
  made->status = status;
  TAILQ_INSERT_TAIL(&engine->sent, made, entry);
}

void mock_free_packet(packet *old) {
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
      mock_note_sent(engine, peer, old->context, GFSMITH_EPEER);
    mock_free_packet(old);
  }
  engine->link[peer] = LINK_FALLING;
  engine->status[peer] = status;
}

void mock_link_down(mock *world, unsigned a, unsigned b, int status) {
  half_down(&world->engine[a], b, status);
  half_down(&world->engine[b], a, GFSMITH_EPEER);
}

void gfc_drop(gfc_engine *engine, uint16_t rank, int status, const char *reason) {
  REQUIRE(engine->running && reason != NULL && status < 0, "drop");
  mock_link_down(engine->world, engine->rank, rank, status);
}
