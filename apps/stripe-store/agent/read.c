#include "read.h"

#include "call.h"
#include "common/fault.h"
#include "node.h"
#include "sync.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { TRIES = 6 };

const char read_damaged[] = "damaged: the value has another checksum";
static const char lost[] = "lost: too few of its chunks were left";
static const char no_room[] = "out of memory: too many values are in transit";

/* A value that is being read from the chunk servers. */
typedef struct reading {
  agent *agent;
  uint64_t version;
  stripe *value;
  uint64_t began_ms, began_ns;
  unsigned tries, running;
  unsigned computed; /* chunks that this try computes */
  uint64_t without;  /* ranks that this try avoids */
  uint64_t accused;  /* the same, if there are enough others */
  bool failed;
  char reason[AGENT_REASON];
  read_done *done;
  void *owner;
} reading;

static void finish(reading *r, const char *reason) {
  read_done *done = r->done;
  void *owner = r->owner;
  stripe *value = r->value;
  char text[AGENT_REASON];
  if (reason != NULL) {
    snprintf(text, sizeof text, "%s", reason);
    stripe_free(value);
    value = NULL;
  }
  free(r);
  done(owner, value, reason == NULL ? NULL : text);
}

/* Write the reason why too few chunks are available, with each unavailable one. */
static void not_enough(reading *r, const entry *e, uint64_t present) {
  agent *a = r->agent;
  char reason[AGENT_REASON] = "";
  unsigned turn = index_turn(a, e->record.key, e->record.key_bytes);
  uint64_t there = layout_ranks(a->layout, turn, present);
  uint64_t perhaps = e->have;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (!a->nodes[rank].known) /* no list since the start of this agent: it may have its chunk */
      perhaps |= UINT64_C(1) << rank;
  int status = index_readable(a, turn, layout_at(a->layout, turn, perhaps));
  if (status == GFSMITH_ENOMEM) {
    finish(r, no_memory);
    return;
  }
  append(reason, "%s: %d of %u chunks are available, not enough:",
         status == GFSMITH_OK ? "not available now" : "lost", __builtin_popcountll(present),
         agent_nodes(a));
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (!(there >> rank & 1))
      append(reason, " chunk server %u %s,", rank,
             !node_serves(&a->nodes[rank]) ? node_words(a, rank)
             : e->have >> rank & 1         ? "did not send its chunk"
                                           : "has lost its memory");
  reason[strlen(reason) - 1] = '\0';
  if (r->reason[0] != '\0')
    append(reason, "; %s", r->reason);
  finish(r, reason);
}

static void try(reading *r);

static void check_value(reading *r, const entry *e) {
  uint64_t sum = XXH3_64bits_withSeed(r->value->bytes, r->value->length, r->version);
  (void)fault_point("get.arrived");
  if (sum == e->record.checksum)
    trace_read(r->agent->trace, r->computed, r->began_ns);
  finish(r, sum == e->record.checksum ? NULL : read_damaged);
}

/* The first failure of a try counts. */
static void fail(reading *r, const char *reason) {
  if (!r->failed)
    snprintf(r->reason, sizeof r->reason, "%s", reason);
  r->failed = true;
}

/* A part of the try has ended, or its beginning. */
static void end_part(reading *r) {
  agent *a = r->agent;
  if (--r->running > 0)
    return;
  const entry *e = index_version(a, r->version);
  if (e == NULL) {
    stripe_free(r->value);
    r->value = NULL;
    finish(r, NULL); /* replaced in the meantime: look up again */
  } else if (index_is_lost(e)) {
    finish(r, lost); /* in the meantime: its length is no longer known */
  } else if (!r->failed) {
    check_value(r, e);
  } else if (r->tries >= TRIES || agent_now_ms() - r->began_ms >= a->deadline_ms) {
    finish(r, r->reason);
  } else {
    a->counters.retried++;
    try(r);
  }
}

static void part_over(void *owner, const result *result) {
  reading *r = owner;
  agent *a = r->agent;
  if (result->status != GFSMITH_OK)
    fail(r, result->reason);
  r->without |= result->unable;
  r->accused |= result->accused;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (result->missing >> rank & 1)
      sync_missing(a, rank, r->version);
  end_part(r);
}

/* NULL: no memory, and the try has failed. */
static call *begin_part(reading *r, const char *kind) {
  agent *a = r->agent;
  uint64_t gone = agent_now_ms() - r->began_ms;
  /* a first try ends early enough for another one without the chunk servers that did not answer */
  unsigned left = gone >= a->deadline_ms ? 1 : a->deadline_ms - (unsigned)gone;
  unsigned share = a->deadline_ms * 2 / 5 + 1;
  call *c = call_begin(a, left < share ? left : share, part_over, r);
  if (c == NULL) {
    fail(r, no_memory);
    return NULL;
  }
  r->running++;
  trace_graph(a->trace, call_id(c), kind);
  call_hold(c, r->value);
  call_ours(c);
  return c;
}

/* Fetch data shards unchanged, directly into the value. */
static void fetch(reading *r, unsigned turn, uint64_t shards) {
  agent *a = r->agent;
  gfsmith_source source[LAYOUT_SHARDS_MAX];
  uint8_t *received[LAYOUT_SHARDS_MAX];
  unsigned count = 0;
  call *c = begin_part(r, "fetch");
  if (c == NULL)
    return;
  for (unsigned i = 0; i < layout_get(a->layout)->k; i++)
    if (shards >> i & 1) {
      source[count] = (gfsmith_source){layout_rank(a->layout, turn, i), (uint16_t)i};
      received[count++] = r->value->bytes + i * r->value->chunk;
    }
  const gfsmith_job job = {call_id(c), r->version, call_limit(c)};
  const gfsmith_wait wait = {count, source};
  const gfsmith_calc forward = {.calculator = GFSMITH_FORWARD, .outputs = count};
  const gfsmith_memory memory = {
      .length = r->value->chunk, .slice = layout_get(a->layout)->slice, .received = received};
  gfsmith_notice notice;
  if (call_notice(c, &notice))
    call_posted(c, &notice,
                gfsmith_recv_ec(net_node(a->net), &job, &wait, &forward, &memory, &notice));
  for (unsigned i = 0; i < count; i++) {
    message m = {.type = MESSAGE_FETCH,
                 .turn = (uint16_t)turn,
                 .version = r->version,
                 .hash = r->version,
                 .present = shards,
                 .length = r->value->chunk,
                 .slice = (uint32_t)memory.slice};
    call_ask(c, source[i].rank, &m);
  }
  call_go(c);
}

/* Rebuild missing data shards through the scheme's graph. Return the ranks in the graph. */
static uint64_t repair(reading *r, const layout_rebuild *wish, const gfsmith_graph *graph) {
  agent *a = r->agent;
  uint8_t *shards[LAYOUT_SHARDS_MAX] = {NULL};
  uint64_t asked = 0;
  call *c = begin_part(r, "repair");
  if (c == NULL)
    return 0;
  for (unsigned i = 0; i < layout_get(a->layout)->k; i++)
    shards[i] = r->value->bytes + i * r->value->chunk;
  message m = {.type = wish->gathers ? MESSAGE_GATHER : MESSAGE_REPAIR,
               .turn = wish->turn,
               .sink = LAYOUT_AGENT,
               .version = r->version,
               .hash = gfsmith_graph_hash(graph),
               .present = wish->present,
               .wanted = wish->wanted,
               .length = r->value->chunk,
               .slice = layout_get(a->layout)->slice};
  gfsmith_notice notice;
  if (call_notice(c, &notice))
    call_posted(c, &notice,
                gfsmith_graph_post(net_node(a->net), graph, call_id(c), call_limit(c), m.length,
                                   m.slice, shards, &notice));
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (gfsmith_graph_has(graph, rank)) {
      asked |= UINT64_C(1) << rank;
      call_ask(c, rank, &m);
    }
  call_go(c);
  return asked;
}

static void begin_parts(reading *r, const entry *e, uint64_t present) {
  agent *a = r->agent;
  char reason[GFSMITH_REASON_MAX] = "";
  uint64_t data = (UINT64_C(1) << layout_get(a->layout)->k) - 1;
  unsigned turn = index_turn(a, e->record.key, e->record.key_bytes);
  bool gathers = r->tries > 0; /* chunk servers that reach the agent may not reach each other */
  layout_rebuild wish = {present, data & ~present, (uint16_t)turn, LAYOUT_AGENT, gathers};
  uint64_t direct = data & present;
  const gfsmith_graph *graph = NULL;
  int status = wish.wanted == 0 ? GFSMITH_OK : layout_repair(a->layout, &wish, &graph, reason);
  if (status == GFSMITH_ENOMEM) {
    finish(r, no_memory);
    return;
  }
  if (status != GFSMITH_OK) {
    not_enough(r, e, present);
    return;
  }
  r->tries++;
  r->failed = false;
  r->running = 1; /* this function */
  r->computed = (unsigned)__builtin_popcountll(wish.wanted);
  if (graph != NULL) {
    a->counters.degraded++;
    uint64_t asked = repair(r, &wish, graph);
    if (layout_gathers(a->layout, &wish))
      direct &= ~layout_at(a->layout, turn, asked);
  }
  if (direct != 0)
    fetch(r, turn, direct);
  end_part(r);
}

/* The memory for a value. Recovery reads one at a time, and the store does not start without it: it
 * does not count, so that it waits neither for clients nor for another limit. */
static stripe *new_value(agent *a, const entry *e) {
  const uint64_t length = e->record.length;
  return e->record.version == a->checked ? stripe_expect(a, length) : stripe_new(a, length);
}

static void try(reading *r) {
  agent *a = r->agent;
  const entry *e = index_version(a, r->version);
  unsigned turn = index_turn(a, e->record.key, e->record.key_bytes);
  uint64_t present = index_present(a, e) & ~layout_at(a->layout, turn, r->without);
  uint64_t rest = present & ~layout_at(a->layout, turn, r->accused);
  if (index_readable(a, turn, rest) == GFSMITH_OK)
    present = rest;
  if (r->value->users > 1) { /* an abandoned try may still write there */
    stripe_free(r->value);
    r->value = new_value(a, e);
  }
  if (r->value == NULL) {
    finish(r, no_room);
    return;
  }
  uint64_t failed = r->tries == 0 ? failures_next(a->failures, layout_get(a->layout)->k) : 0;
  if (failed != 0 && index_readable(a, turn, present & ~failed) == GFSMITH_OK)
    present &= ~failed;
  begin_parts(r, e, present);
}

void read_begin(agent *a, const entry *e, read_done *done, void *owner) {
  if (index_is_lost(e)) {
    done(owner, NULL, lost);
    return;
  }
  stripe *value = new_value(a, e);
  reading *r = calloc(1, sizeof *r);
  if (r == NULL) {
    stripe_free(value);
    done(owner, NULL, no_memory);
    return;
  }
  *r = (reading){.agent = a,
                 .version = e->record.version,
                 .value = value,
                 .began_ms = agent_now_ms(),
                 .began_ns = trace_now(),
                 .done = done,
                 .owner = owner};
  (void)fault_point("get.begin");
  if (value == NULL)
    finish(r, no_room);
  else
    try(r);
}
