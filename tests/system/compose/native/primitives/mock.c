#include <stdlib.h>

#include "mock.h"
#include "mock_world.h"

static mock *the_world; /* gfc_now has no argument */

uint64_t gfc_now(void) { return the_world->now; }
uint64_t gfc_now_ns(void) { return the_world->now * 1000000; }

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
      mock_link_down(world, engine->rank, peer, GFSMITH_EPEER);
  }
  engine->running = true;
  gfc_operations_events.stop(engine->node.operations);
  while (more) {
    more = false;
    for (unsigned kind = 0; kind < MOCK_KINDS; kind++) {
      for (unsigned peer = 0; peer < world->nodes; peer++)
        more |= peer != engine->rank && mock_happen(engine, kind, peer);
    }
  }
  engine->silent = true;
}

static void strike(mock *world) {
  gfc_engine *victim = &world->engine[world->victim];
  unsigned peer = (world->victim + 1 + below(world->random, world->nodes - 1)) % world->nodes;
  if (world->fault == FAULT_KILL && mock_strikes(victim, FAULT_KILL))
    kill_node(world, victim);
  else if (world->fault == FAULT_SILENT && mock_strikes(victim, FAULT_SILENT))
    victim->silent = true;
  else if (world->fault == FAULT_LINK && mock_strikes(victim, FAULT_LINK))
    mock_link_down(world, world->victim, peer, GFSMITH_EPEER);
}

bool mock_step(mock *world, bool time) {
  unsigned all = world->nodes * world->nodes * MOCK_KINDS, first = below(world->random, all);
  world->steps++;
  strike(world);
  for (unsigned n = 0; n < all; n++) {
    unsigned at = (first + n) % all, kind = at % MOCK_KINDS, peer = at / MOCK_KINDS % world->nodes;
    gfc_engine *engine = &world->engine[at / MOCK_KINDS / world->nodes];
    if (!engine->silent && peer != engine->rank && mock_happen(engine, kind, peer))
      return true;
  }
  return time && pass_time(world);
}

/* ---- a world ---- */

mock *mock_create(random_source *random, unsigned nodes, size_t memory) {
  mock *world = calloc(1, sizeof *world);
  the_world = world;
  world->random = random;
  world->nodes = nodes;
  world->now = MOCK_START;
  world->offsets = below(random, 2);
  for (unsigned n = 0; n < nodes; n++) {
    gfc_engine *engine = &world->engine[n];
    engine->world = world;
    engine->rank = n;
    engine->node = (gfsmith_node){.engine = engine, .rank = (uint16_t)n};
    for (unsigned peer = 0; peer < RANKS; peer++) {
      TAILQ_INIT(&engine->out[peer]);
      engine->link[peer] = LINK_RISING;
    }
    TAILQ_INIT(&engine->sent);
    TAILQ_INIT(&engine->work);
    TAILQ_INIT(&engine->records);
    TAILQ_INIT(&engine->timers);
    const gfsmith_node_options options = {
        .rank = (uint16_t)n, .deadline_ms = 30000, .memory = memory};
    int status = gfc_operations_create(&engine->node.operations, engine, &options);
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
