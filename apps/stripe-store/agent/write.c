/* A write stores all k + m chunks, then the m + 1 records, changes the index, acknowledges, and
 * deletes the old version. The old value is valid until the last record is stored.
 *
 * A removal deletes the rest of the version that the value has replaced, then all records, changes
 * the index, deletes all chunks, and acknowledges. Each step ends when all chunk servers
 * have done it. So up to m of them may return with an older content, which has the record: at no
 * time do they and the others together have enough chunks of a version that is no longer the value.
 */
#include "write.h"

#include "call.h"
#include "common/answer.h"
#include "common/fault.h"
#include "lock.h"
#include "node.h"
#include "sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct writing {
  agent *agent;
  record record;
  stripe *value;    /* NULL: a removal */
  uint64_t changes; /* at the beginning of the write */
  uint64_t began_ms, began_ns;
  write_done *done;
  void *owner;
} writing;

/* Send these ranks a request to delete a version, without an answer. */
static void free_version(agent *a, uint64_t ranks, uint64_t version) {
  message m = {.type = MESSAGE_FREE, .epoch = a->group.epoch, .version = version};
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    /* a chunk server that is down deletes it when it is back */
    if (ranks >> rank & 1 && net_send(a->net, rank, &m) == GFSMITH_ENOMEM)
      a->events.unsure(a, rank);
}

static void finish(writing *w, const char *reason) {
  write_done *done = w->done;
  void *owner = w->owner;
  char text[AGENT_REASON];
  if (reason != NULL)
    snprintf(text, sizeof text, "%s", reason);
  stripe_free(w->value);
  free(w);
  done(owner, reason == NULL ? NULL : text);
}

static void give_up(writing *w, const result *r) {
  const char *kind = r->status == ANSWER_FULL        ? "out of memory storing object"
                     : r->status == ANSWER_TOO_LARGE ? "object too large for cache"
                                                     : "not stored";
  char reason[AGENT_REASON] = "";
  append(reason, "%s: %s", kind, r->reason);
  free_version(w->agent, agent_all(w->agent), w->record.version);
  finish(w, reason);
}

/* Fail for lack of memory, perhaps with chunks and records of the new version already stored. */
static void starve(writing *w) {
  result r = {.status = GFSMITH_ENOMEM};
  strcpy(r.reason, no_memory);
  give_up(w, &r);
}

/* NULL: the system has no memory, and done() has been told. */
static writing *begin(agent *a, const record *r, stripe *value, write_done *done, void *owner) {
  writing *w = calloc(1, sizeof *w);
  if (w == NULL) {
    stripe_free(value);
    done(owner, no_memory);
    return NULL;
  }
  w->value = value;
  w->agent = a;
  record_copy(&w->record, r);
  w->changes = a->changes;
  w->began_ms = agent_now_ms();
  w->began_ns = trace_now();
  w->done = done;
  w->owner = owner;
  return w;
}

static unsigned left_ms(const writing *w) {
  uint64_t gone = agent_now_ms() - w->began_ms;
  return gone >= w->agent->deadline_ms ? 1 : w->agent->deadline_ms - (unsigned)gone;
}

/* A chunk server that was down in the meantime may be back without the data just stored. */
static bool changed(const writing *w, result *r) {
  if (w->changes == w->agent->changes)
    return false;
  *r = (result){.status = GFSMITH_EPEER};
  strcpy(r->reason, "a chunk server was down in the meantime");
  return true;
}

static void on_recorded(void *owner, const result *r) {
  writing *w = owner;
  agent *a = w->agent;
  result copy = *r;
  if (r->status != GFSMITH_OK || changed(w, &copy)) {
    give_up(w, &copy);
    return;
  }
  (void)fault_point("set.recorded");
  unsigned turn = index_turn(a, w->record.key, w->record.key_bytes);
  uint64_t old;
  if (!index_put(a, &w->record, agent_all(a), layout_replicas(a->layout, turn), &old)) {
    starve(w);
    return;
  }
  if (old != 0)
    free_version(a, agent_all(a), old);
  (void)fault_point("set.freed");
  trace_write(a->trace, w->began_ns);
  finish(w, NULL);
}

static void on_encoded(void *owner, const result *r) {
  writing *w = owner;
  agent *a = w->agent;
  uint8_t bytes[RECORD_MAX];
  unsigned turn = index_turn(a, w->record.key, w->record.key_bytes);
  uint64_t replicas = layout_replicas(a->layout, turn);
  if (r->status != GFSMITH_OK) {
    give_up(w, r);
    return;
  }
  (void)fault_point("set.encoded");
  message m = {.type = MESSAGE_META, .version = w->record.version, .body = bytes};
  m.body_bytes = (uint32_t)record_encode(&w->record, bytes);
  call *c = call_begin(a, left_ms(w), on_recorded, w);
  if (c == NULL) {
    starve(w);
    return;
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (replicas >> rank & 1)
      call_ask(c, rank, &m);
  call_go(c);
}

static void encode(writing *w, const gfsmith_graph *graph, unsigned turn) {
  agent *a = w->agent;
  uint8_t *shards[LAYOUT_SHARDS_MAX] = {NULL};
  message m = {.type = MESSAGE_ENCODE,
               .turn = (uint16_t)turn,
               .version = w->record.version,
               .hash = gfsmith_graph_hash(graph),
               .length = w->value->chunk,
               .slice = layout_get(a->layout)->slice};
  for (unsigned i = 0; i < layout_get(a->layout)->k; i++)
    shards[i] = w->value->bytes + i * w->value->chunk;
  call *c = call_begin(a, left_ms(w), on_encoded, w);
  if (c == NULL) {
    finish(w, no_memory);
    return;
  }
  trace_graph(a->trace, call_id(c), "encode");
  call_hold(c, w->value);
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    call_ask(c, rank, &m);
  (void)fault_point("set.asked");
  gfsmith_notice notice;
  if (call_notice(c, &notice))
    call_posted(c, &notice,
                gfsmith_graph_post(net_node(a->net), graph, call_id(c), call_limit(c), m.length,
                                   m.slice, shards, &notice));
  call_go(c);
}

void write_begin(agent *a, const record *r, stripe *value, write_done *done, void *owner) {
  char reason[AGENT_REASON] = "";
  writing *w = begin(a, r, value, done, owner);
  unsigned turn = index_turn(a, r->key, r->key_bytes);
  if (w == NULL)
    return;
  if (!nodes_writable(a, reason)) {
    finish(w, reason);
    return;
  }
  const gfsmith_graph *graph = layout_encode(a->layout, turn, reason);
  if (graph == NULL) {
    finish(w, reason);
    return;
  }
  w->record.version = agent_number(a);
  w->record.length = value->length;
  w->record.checksum = XXH3_64bits_withSeed(value->bytes, value->length, w->record.version);
  encode(w, graph, turn);
}

/* ---- removals -------------------------------------------------------------------------------- */

/* Delete the record and the chunk of a version on all chunk servers. False: no memory. */
static bool free_everywhere(writing *w, uint64_t version, unsigned ms, call_done *freed) {
  message m = {.type = MESSAGE_FREE, .version = version};
  call *c = call_begin(w->agent, ms, freed, w);
  if (c == NULL)
    return false;
  call_ask_all(c, &m);
  call_go(c);
  return true;
}

/* A chunk server that has not answered may still have its chunk, so its lists are requested again.
 */
static void doubt_others(agent *a, const result *r) {
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (!(r->done >> rank & 1) && a->nodes[rank].state == NODE_UP)
      a->events.unsure(a, rank);
}

static void end_removal(writing *w, const char *what, const char *why) {
  char reason[AGENT_REASON] = "";
  append(reason, "%s: %s", what, why);
  finish(w, reason);
}

static void on_freed(void *owner, const result *r) {
  writing *w = owner;
  doubt_others(w->agent, r);
  if (r->status == GFSMITH_OK)
    finish(w, NULL);
  else
    end_removal(w, "deleted, but not on all chunk servers", r->reason);
}

static void on_removed(void *owner, const result *r) {
  writing *w = owner;
  agent *a = w->agent;
  result copy = *r;
  entry *e = index_version(a, w->record.version);
  if (r->status == GFSMITH_OK && !changed(w, &copy) && e != NULL) {
    (void)fault_point("delete.removed");
    if (free_everywhere(w, w->record.version, left_ms(w), on_freed)) {
      lock_hide(a, w->record.key, w->record.key_bytes);
      index_remove(a, e);
      return;
    }
    strcpy(copy.reason, no_memory);
  }
  /* some of the records may be deleted: they are stored again */
  for (uint16_t rank = 1; e != NULL && rank <= agent_nodes(a); rank++)
    if (e->records >> rank & 1) {
      e->records &= ~(UINT64_C(1) << rank);
      sync_heal(&a->nodes[rank]);
    }
  end_removal(w, "not deleted", copy.reason);
}

static unsigned third_ms(const writing *w) { return w->agent->deadline_ms / 3 + 1; }

static void remove_records(writing *w, const entry *e) {
  agent *a = w->agent;
  message m = {.type = MESSAGE_UNMETA, .version = w->record.version};
  /* copies of the record from before the loss may exist on any chunk server */
  uint64_t replicas = index_is_lost(e) ? agent_all(a) : e->records;
  call *c = call_begin(a, third_ms(w), on_removed, w);
  if (c == NULL) {
    finish(w, no_memory);
    return;
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (replicas >> rank & 1)
      call_ask(c, rank, &m);
  (void)fault_point("delete.asked");
  call_go(c);
}

static void on_old_freed(void *owner, const result *r) {
  writing *w = owner;
  result copy = *r;
  const entry *e = index_version(w->agent, w->record.version);
  doubt_others(w->agent, r);
  if (r->status == GFSMITH_OK && !changed(w, &copy) && e != NULL)
    remove_records(w, e);
  else
    end_removal(w, "not deleted", copy.reason);
}

void remove_begin(agent *a, const entry *e, write_done *done, void *owner) {
  char reason[AGENT_REASON] = "";
  writing *w = begin(a, &e->record, NULL, done, owner);
  if (w == NULL)
    return;
  if (!nodes_writable(a, reason))
    finish(w, reason);
  else if (e->old == 0)
    remove_records(w, e);
  else if (!free_everywhere(w, e->old, third_ms(w), on_old_freed))
    finish(w, no_memory);
}
