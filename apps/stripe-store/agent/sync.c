#include "sync.h"

#include "call.h"
#include "common/answer.h"
#include "common/fault.h"
#include "common/report.h"
#include "index.h"
#include "node.h"
#include "recover.h"
#include "stripe.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8, RETRY_TICKS = 3 };

typedef enum phase { PHASE_FORGET, PHASE_RECORDS, PHASE_CHUNKS, PHASE_DONE } phase;

typedef struct sync {
  node *node; /* NULL: abandoned; the job ends when nothing of it runs */
  agent *agent;
  phase phase;
  versions todo[PHASE_DONE];
  size_t at;        /* position in the list of the phase */
  unsigned running; /* calls */
  bool failed, told;
  bool copies;   /* only records are stored in this try (agent.h: copiers) */
  unsigned rest; /* ticks until the next try */
} sync_job;

/* A single call of the job. */
typedef struct step {
  sync_job *sync;
  uint64_t version;
} step;

static void go_on(sync_job *s);

static void dispose(sync_job *s) {
  for (phase p = PHASE_FORGET; p < PHASE_DONE; p++)
    versions_free(&s->todo[p]);
  free(s);
}

void sync_abandon(node *n) {
  sync_job *s = n->sync;
  n->sync = NULL;
  if (s == NULL)
    return;
  s->node = NULL;
  if (s->running == 0)
    dispose(s);
}

/* Compare the list of the chunk server with the index: add the rest of it to the index, or to the
 * deletions. False: no memory. */
static bool compare(sync_job *s, node *n) {
  agent *a = s->agent;
  uint64_t bit = UINT64_C(1) << n->rank;
  entry *e, *next;
  record r;
  s->todo[PHASE_FORGET].count = 0;
  HASH_ITER(by_key, a->by_key, e, next) {
    e->have &= ~bit;
    e->records &= ~bit;
  }
  for (size_t i = 0; i < n->chunks.count; i++) {
    if ((e = index_version(a, n->chunks.at[i])) != NULL)
      e->have |= bit;
    else if (!versions_add(&s->todo[PHASE_FORGET], n->chunks.at[i]))
      return false;
  }
  for (size_t at = 0; records_next(&n->records, &at, &r);) {
    if ((e = index_version(a, r.version)) != NULL)
      e->records |= r.length == e->record.length ? bit : 0;
    else if (!versions_add(&s->todo[PHASE_FORGET], r.version))
      return false;
  }
  for (size_t i = 0; i < n->damaged.count; i++)
    if (index_version(a, n->damaged.at[i]) == NULL &&
        !versions_add(&s->todo[PHASE_FORGET], n->damaged.at[i]))
      return false;
  n->known = true;
  node_forget_lists(n);
  return true;
}

static uint64_t replicas_of(const agent *a, const entry *e) {
  return layout_replicas(a->layout, index_turn(a, e->record.key, e->record.key_bytes));
}

/* Must the chunk server have the record of the value? */
static bool keeps_record(const agent *a, uint64_t bit, const entry *e) {
  uint64_t replicas = replicas_of(a, e);
  bool spread = (a->doubters & bit) != 0 && (replicas & ~a->deciders) != 0; /* recover.c */
  return spread || e->spread || (replicas & bit) != 0;
}

/* False: no memory. */
static bool find_lacking(sync_job *s) {
  agent *a = s->agent;
  uint64_t bit = UINT64_C(1) << s->node->rank;
  entry *e, *next;
  s->todo[PHASE_CHUNKS].count = s->todo[PHASE_RECORDS].count = 0;
  (void)fault_point("sync.look");
  HASH_ITER(by_key, a->by_key, e, next) {
    if (!(e->have & bit) && !index_is_lost(e) &&
        !versions_add(&s->todo[PHASE_CHUNKS], e->record.version))
      return false;
    if (!(e->records & bit) && keeps_record(a, bit, e) &&
        !versions_add(&s->todo[PHASE_RECORDS], e->record.version))
      return false;
  }
  return true;
}

/* Begin with the first phase; for lack of memory, after a rest. */
static void start(sync_job *s) {
  s->failed = false;
  s->copies = s->agent->copiers != 0;
  /* in a repeated try, versions that could not be deleted are still there */
  s->phase = s->copies ? PHASE_RECORDS : PHASE_FORGET;
  s->at = 0;
  if ((s->node->listed && !compare(s, s->node)) || !find_lacking(s))
    s->rest = RETRY_TICKS;
  else
    go_on(s);
}

void sync_begin(node *n) {
  sync_job *s = calloc(1, sizeof *s);
  sync_abandon(n);
  if (s == NULL)
    return;
  n->sync = s;
  s->node = n;
  s->agent = n->agent;
  start(s);
}

void sync_heal(node *n) {
  if (n->sync != NULL) {
    n->sync->failed = true; /* another try: this one began without this chunk or record */
  } else if (n->state == NODE_UP) {
    node_set_state(n, NODE_SYNCING);
    sync_begin(n);
  }
}

void sync_missing(agent *a, uint16_t rank, uint64_t version) {
  entry *e = index_version(a, version);
  node *n = &a->nodes[rank];
  if (e == NULL || !(e->have >> rank & 1))
    return;
  e->have &= ~(UINT64_C(1) << rank);
  report("chunk server %u has lost a chunk", rank);
  sync_heal(n);
}

/* The job will be tried again; only the first reason is reported. */
static void fail(sync_job *s, const char *reason) {
  s->failed = true;
  if (!s->told)
    report("chunk server %u cannot be synchronized yet: %s", s->node->rank, reason);
  s->told = true;
}

static bool is_replica(const sync_job *s, const entry *e) {
  return (replicas_of(s->agent, e) >> s->node->rank & 1) != 0;
}

/* There is no room for a record that is needed: the others get it instead. Do m + 1 of them have
 * it? Then each recovery finds it. */
static bool spread_record(const sync_job *s, entry *e) {
  agent *a = s->agent;
  const uint64_t lacking = e->spread ? 0 : agent_all(a) & ~e->records;
  e->spread = true;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (rank != s->node->rank && lacking >> rank & 1)
      sync_heal(&a->nodes[rank]);
  return (unsigned)__builtin_popcountll(e->records) > layout_get(a->layout)->m;
}

/* May the chunk server be without a record for which it has no room? Yes for further copies, and
 * until deletions have made room, unless the value replaces another one: that is deleted next. */
static bool dispensable(const sync_job *s, entry *e) {
  return (e->old == 0 && (s->copies || !is_replica(s, e))) || spread_record(s, e);
}

static void on_step(void *owner, const result *r) {
  step *t = owner;
  sync_job *s = t->sync;
  uint64_t version = t->version;
  free(t);
  s->running--;
  if (s->node == NULL) {
    if (s->running == 0)
      dispose(s);
    return;
  }
  agent *a = s->agent;
  entry *e = index_version(a, version);
  if (r->status == ANSWER_FULL && s->phase == PHASE_RECORDS && e != NULL && dispensable(s, e)) {
    report("chunk server %u: no memory for the copy of a record", s->node->rank);
  } else if (r->status != GFSMITH_OK) {
    fail(s, r->reason);
  } else if (e != NULL && s->phase == PHASE_CHUNKS) {
    e->have |= UINT64_C(1) << s->node->rank;
    a->counters.rebuilt++;
  } else if (e != NULL && s->phase == PHASE_RECORDS) {
    e->records |= UINT64_C(1) << s->node->rank;
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (r->missing >> rank & 1 && rank != s->node->rank)
      sync_missing(a, rank, version);
  if (s->node != NULL)
    go_on(s);
}

/* NULL: no memory, and the job will be tried again. */
static call *begin_step(sync_job *s, uint64_t version) {
  step *t = malloc(sizeof *t);
  call *c = t == NULL ? NULL : call_begin(s->agent, s->agent->deadline_ms, on_step, t);
  if (c == NULL) {
    free(t);
    fail(s, no_memory);
    return NULL;
  }
  *t = (step){s, version};
  s->running++;
  return c;
}

/* A step that is one request to the chunk server. */
static void request(sync_job *s, uint64_t version, message *m) {
  call *c = begin_step(s, version);
  if (c == NULL)
    return;
  call_ask(c, s->node->rank, m);
  call_go(c);
}

static void forget(sync_job *s, uint64_t version) {
  message m = {.type = MESSAGE_FREE, .version = version};
  request(s, version, &m);
}

/* Copies of a version that replaces another one are needed, too: that one is deleted next. */
static void put_record(sync_job *s, const entry *e) {
  uint8_t bytes[RECORD_MAX];
  message m = {.type = MESSAGE_META, .version = e->record.version, .body = bytes};
  m.wanted = is_replica(s, e) || e->old != 0;
  m.body_bytes = (uint32_t)record_encode(&e->record, bytes);
  request(s, e->record.version, &m);
}

/* A key may have bytes that control a terminal. */
static void report_lost(const record *r) {
  char key[RECORD_KEY_MAX + 1] = "";
  for (unsigned i = 0; i < r->key_bytes; i++)
    key[i] = r->key[i] > ' ' && r->key[i] < 0x7f ? r->key[i] : '?';
  report("the value of %s is lost: too few of its chunks are left", key);
}

/* The value cannot be rebuilt. Its records have to say so: otherwise a recovery that finds even
 * fewer chunks would take it for a deleted value. */
static void give_up(agent *a, entry *e) {
  report_lost(&e->record);
  index_lose(a, e);
  e->records = 0;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    sync_heal(&a->nodes[rank]); /* which stores the record */
}

static void rebuild(sync_job *s, entry *e) {
  agent *a = s->agent;
  char reason[GFSMITH_REASON_MAX] = "";
  unsigned turn = index_turn(a, e->record.key, e->record.key_bytes);
  uint64_t bit = UINT64_C(1) << s->node->rank;
  layout_rebuild wish = {.present = index_present(a, e),
                         .wanted = layout_at(a->layout, turn, bit),
                         .turn = (uint16_t)turn,
                         .sink = s->node->rank,
                         .gathers = s->told}; /* other chunk servers may not reach each other */
  const gfsmith_graph *graph;
  if (layout_repair(a->layout, &wish, &graph, reason) != GFSMITH_OK) {
    if (index_beyond_repair(a, e))
      give_up(a, e);
    else
      fail(s, reason);
    return;
  }
  (void)fault_point("rebuild.begin");
  message m = {.type = wish.gathers ? MESSAGE_GATHER : MESSAGE_REPAIR,
               .turn = (uint16_t)turn,
               .sink = wish.sink,
               .version = e->record.version,
               .hash = gfsmith_graph_hash(graph),
               .present = wish.present,
               .wanted = wish.wanted,
               .length = stripe_chunk(a, e->record.length),
               .slice = layout_get(a->layout)->slice};
  call *c = begin_step(s, e->record.version);
  if (c == NULL)
    return;
  trace_graph(a->trace, call_id(c), "rebuild");
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (gfsmith_graph_has(graph, rank))
      call_ask(c, rank, &m);
  call_go(c);
}

static void do_next(sync_job *s) {
  uint64_t version = s->todo[s->phase].at[s->at++];
  entry *e = index_version(s->agent, version);
  if (s->phase == PHASE_FORGET)
    forget(s, version);
  else if (e != NULL && s->phase == PHASE_RECORDS)
    put_record(s, e);
  else if (e != NULL && !index_is_lost(e))
    rebuild(s, e);
}

/* Add its memory to the group: from now on it belongs to the memories that together hold all
 * values, and lacks none of them. */
static bool admit(sync_job *s) {
  agent *a = s->agent;
  const node *n = s->node;
  group fresh = a->group;
  fresh.behind &= ~(UINT64_C(1) << n->rank);
  if (fresh.behind == a->group.behind &&
      memcmp(fresh.incarnation[n->rank], n->incarnation, GROUP_ID) == 0)
    return true;
  memcpy(fresh.incarnation[n->rank], n->incarnation, GROUP_ID);
  return agent_save_group(a, &fresh);
}

static void finish(sync_job *s) {
  node *n = s->node;
  if (s->failed || !admit(s)) {
    s->rest = RETRY_TICKS;
    return;
  }
  n->sync = NULL;
  dispose(s);
  node_set_state(n, NODE_UP);
}

/* The records are stored, as far as there is room: deletions follow, in another try. */
static void end_copies(sync_job *s) {
  if (!s->failed)
    s->agent->copiers &= ~(UINT64_C(1) << s->node->rank);
  s->rest = s->failed ? RETRY_TICKS : 1;
}

static void go_on(sync_job *s) {
  while (s->phase != PHASE_DONE) {
    while (s->running < WINDOW && s->at < s->todo[s->phase].count)
      do_next(s);
    if (s->running > 0)
      return;
    if (s->copies) {
      end_copies(s);
      return;
    }
    s->phase++;
    s->at = 0;
    if (s->phase == PHASE_CHUNKS && !s->failed)
      recover_agreed(s->agent, s->node->rank);
  }
  if (s->rest == 0)
    finish(s);
}

/* Has it the copies, while others copy? Then there is nothing to look for among all values yet. */
static bool waits_for_copies(const sync_job *s) {
  uint64_t copiers = s->agent->copiers;
  return copiers != 0 && !(copiers >> s->node->rank & 1) && !s->failed;
}

static void tick(node *n) {
  sync_job *s = n->sync;
  if (s == NULL && n->state == NODE_SYNCING)
    sync_begin(n);
  if (s == NULL || s->rest == 0 || --s->rest > 0)
    return;
  if (waits_for_copies(s))
    s->rest = 1;
  else
    start(s);
}

void sync_tick(agent *a) {
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    tick(&a->nodes[rank]);
}
