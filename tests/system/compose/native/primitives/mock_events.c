/* The possible events at a node, one at a time. */
#include <stdlib.h>
#include <string.h>

#include "mock_world.h"
#include "wire.h"

static void run_work(gfc_engine *engine) {
  work *next = TAILQ_FIRST(&engine->work);
  TAILQ_REMOVE(&engine->work, next, entry);
  next->run(engine->node.operations, next->context);
  free(next);
}

static void run_sent(gfc_engine *engine) {
  sent *next = TAILQ_FIRST(&engine->sent);
  TAILQ_REMOVE(&engine->sent, next, entry);
  gfc_operations_events.sent(engine->node.operations, next->context, next->status);
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
  if (!mock_strikes(engine, fault))
    return;
  uint8_t *bytes = (uint8_t *)(uintptr_t)payload->local;
  if (fault == FAULT_PAYLOAD) {
    bytes[below(random, (unsigned)payload->bytes)] ^= (uint8_t)(1 + below(random, 255));
  } else if (fault == FAULT_TRAILER) {
    bytes = (uint8_t *)(uintptr_t)trailer->local;
    bytes[below(random, GFC_TRAILER_BYTES)] ^= (uint8_t)(1 + below(random, 255));
  } else if (fault == FAULT_SHORT) {
    payload->bytes -= 1;
    trailer->bytes = 0;
  } else {
    one->silent = true;
  }
}

/* Returns a later write of the same transfer with the same length that is under way. */
static packet *like(gfc_engine *engine, unsigned peer, const packet *one) {
  packet *other;
  TAILQ_FOREACH(other, &engine->out[peer], entry) {
    if (other != one && !other->transmitted && other->write && other->context == one->context &&
        other->pieces == 2 && one->pieces == 2 && other->piece[0].bytes == one->piece[0].bytes)
      return other;
  }
  return NULL;
}

static void misplace(gfc_engine *engine, unsigned peer, packet *one) {
  mock_fault fault = engine->world->fault;
  packet *other = like(engine, peer, one);
  if (other == NULL || !mock_strikes(engine, fault))
    return;
  const packet first = *one, second = *other;
  for (unsigned n = 0; n < one->pieces; n++) {
    if (fault != FAULT_TURN) {
      one->piece[n].remote = second.piece[n].remote;
      other->piece[n].remote = first.piece[n].remote;
    }
    if (fault != FAULT_PLACE) {
      one->piece[n].local = second.piece[n].local;
      other->piece[n].local = first.piece[n].local;
    }
  }
  if (fault == FAULT_ORDER) {
    one->data = second.data;
    other->data = first.data;
  }
}

static void transmit(gfc_engine *engine, unsigned peer) {
  packet *one = to_transmit(engine, peer);
  mock_fault fault = engine->world->fault;
  one->transmitted = true;
  if (!one->write)
    return;
  if (fault == FAULT_PLACE || fault == FAULT_TURN || fault == FAULT_ORDER)
    misplace(engine, peer, one);
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
  if (fault == FAULT_PAYLOAD || fault == FAULT_TRAILER || fault == FAULT_SHORT ||
      fault == FAULT_SKIP)
    spoil(engine, one);
  mock_note_sent(engine, peer, one->context, GFSMITH_OK);
}

/* NULL: there is no such memory, or it is not registered any more. */
static uint8_t *granted(gfc_engine *engine, const gfc_piece *piece) {
  const record *target;
  TAILQ_FOREACH(target, &engine->records, entry) {
    uint64_t offset = piece->remote - target->base;
    if (target->key == piece->key && (target->purpose & GFC_TARGET) && offset <= target->bytes &&
        piece->bytes <= target->bytes - offset)
      return target->memory + offset;
  }
  return NULL;
}

static bool land(gfc_engine *engine, const gfc_piece *piece) {
  uint8_t *to = granted(engine, piece);
  if (to != NULL)
    memcpy(to, piece->local, piece->bytes);
  return to != NULL;
}

/* An attacker writes into granted memory after the slice there has been checked. */
static void overwrite(gfc_engine *engine, const gfc_piece *piece) {
  uint8_t *to = granted(engine, piece);
  for (size_t n = 0; to != NULL && n < piece->bytes; n++)
    to[n] ^= 0x5a;
}

static void deliver(gfc_engine *from, gfc_engine *to) {
  packet *one = TAILQ_FIRST(&from->out[to->rank]);
  TAILQ_REMOVE(&from->out[to->rank], one, entry);
  bool fine = true;
  for (unsigned n = 0; one->write && !one->silent && fine && n < one->pieces; n++)
    fine = land(to, &one->piece[n]);
  if (!fine)
    mock_link_down(from->world, from->rank, to->rank, GFSMITH_EPEER);
  else if (!one->write)
    gfc_operations_events.control(to->node.operations, (uint16_t)from->rank, one->type, one->body,
                                  one->bytes);
  else if (!one->silent) {
    gfc_operations_events.written(to->node.operations, (uint16_t)from->rank, one->data);
    for (unsigned n = 0; n + 1 < one->pieces; n++) /* the last one is the trailer */
      overwrite(to, &one->piece[n]);
  }
  mock_free_packet(one);
}

static void tell_link(gfc_engine *engine, unsigned peer) {
  gfc_engine *other = &engine->world->engine[peer];
  if (engine->link[peer] == LINK_FALLING) {
    engine->link[peer] = LINK_DOWN;
    gfc_operations_events.down(engine->node.operations, (uint16_t)peer, engine->status[peer],
                               "it is down");
    if (other->link[engine->rank] == LINK_DOWN && !engine->dead && !other->dead)
      engine->link[peer] = other->link[engine->rank] = LINK_RISING;
  } else {
    engine->link[peer] = LINK_UP;
    gfc_operations_events.up(engine->node.operations, (uint16_t)peer);
  }
}

bool mock_happen(gfc_engine *engine, unsigned kind, unsigned peer) {
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
