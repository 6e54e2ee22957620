#include "client_store.h"

#include "agent/confirm.h"
#include "agent/flush.h"
#include "agent/index.h"
#include "agent/node.h"
#include "agent/read.h"
#include "agent/recover.h"
#include "agent/write.h"
#include "input.h"

#include <utlist.h>

static const char failure[] = "read-only: chunk server 1 is gone";

/* ---- values, by version ---- */

typedef struct kept {
  uint64_t version;
  stripe *value;
  struct kept *next;
} kept;

static kept *values;

static kept *find(uint64_t version) {
  kept *found;
  LL_SEARCH_SCALAR(values, found, version, version);
  return found;
}

static void drop(uint64_t version) {
  kept *found = find(version);
  if (found == NULL)
    return;
  LL_DELETE(values, found);
  free(found->value->bytes);
  free(found->value);
  free(found);
}

/* The bytes of a kept value do not count as memory in transit. */
static void keep(uint64_t version, stripe *value) {
  kept *made = calloc(1, sizeof *made);
  stripe *copy = stripe_expect(value->agent, value->length);
  REQUIRE(made != NULL && copy != NULL);
  memcpy(copy->bytes, value->bytes, value->length);
  *made = (kept){.version = version, .value = copy};
  LL_PREPEND(values, made);
  stripe_free(value);
}

/* ---- requests ---- */

typedef enum kind { READ, WRITE, REMOVE, FLUSH, CONFIRM } kind;

typedef struct task {
  kind kind;
  agent *agent;
  record record;
  stripe *value;
  read_done *read;
  write_done *written; /* also of a removal, a flush and a confirmation */
  void *owner;
  struct task *next;
} task;

static task *tasks;

/* r: NULL, or the record, which may be without the rest of its key. */
static void begin(task what, const record *r) {
  task *made = malloc(sizeof *made);
  REQUIRE(made != NULL);
  *made = what;
  if (r != NULL)
    record_copy(&made->record, r);
  LL_APPEND(tasks, made);
}

void read_begin(agent *a, const entry *e, read_done *done, void *owner) {
  begin((task){.kind = READ, .agent = a, .read = done, .owner = owner}, &e->record);
}

void write_begin(agent *a, const record *r, stripe *value, write_done *done, void *owner) {
  begin((task){.kind = WRITE, .agent = a, .value = value, .written = done, .owner = owner}, r);
}

void remove_begin(agent *a, const entry *e, write_done *done, void *owner) {
  begin((task){.kind = REMOVE, .agent = a, .written = done, .owner = owner}, &e->record);
}

void flush_begin(agent *a, flush_done *done, void *owner) {
  begin((task){.kind = FLUSH, .agent = a, .written = done, .owner = owner}, NULL);
}

void confirm_begin(agent *a, confirm_done *done, void *owner) {
  begin((task){.kind = CONFIRM, .agent = a, .written = done, .owner = owner}, NULL);
}

static void complete_read(const task *t, bool success) {
  const kept *found = find(t->record.version);
  stripe *value = NULL;
  if (success && found != NULL) {
    value = stripe_new(t->agent, found->value->length);
    success = value != NULL;
    if (success)
      memcpy(value->bytes, found->value->bytes, value->length);
  }
  t->read(t->owner, value, success ? NULL : failure);
}

static void complete_write(task *t, bool success) {
  if (success) {
    uint64_t old;
    t->record.version = agent_number(t->agent);
    t->record.length = t->value->length;
    REQUIRE(index_put(t->agent, &t->record, 0, 0, &old));
    drop(old);
    keep(t->record.version, t->value);
  } else {
    stripe_free(t->value);
  }
  t->written(t->owner, success ? NULL : failure);
}

static void complete_removal(const task *t, bool success) {
  entry *e = index_version(t->agent, t->record.version);
  if (success && e != NULL)
    index_remove(t->agent, e);
  if (success)
    drop(t->record.version);
  t->written(t->owner, success ? NULL : failure);
}

static void complete_flush(const task *t, bool success) {
  if (success) {
    index_clear(t->agent);
    while (values != NULL)
      drop(values->version);
  }
  t->written(t->owner, success ? NULL : failure);
}

unsigned store_waiting(void) {
  unsigned count = 0;
  const task *t;
  LL_COUNT(tasks, t, count);
  return count;
}

void store_complete(unsigned n, bool success) {
  task *t = tasks;
  while (n-- > 0)
    t = t->next;
  LL_DELETE(tasks, t);
  if (t->kind == READ)
    complete_read(t, success);
  else if (t->kind == WRITE)
    complete_write(t, success);
  else if (t->kind == REMOVE)
    complete_removal(t, success);
  else if (t->kind == FLUSH)
    complete_flush(t, success);
  else
    t->written(t->owner, success ? NULL : failure);
  free(t);
}

void store_clear(agent *a) {
  REQUIRE(tasks == NULL);
  index_clear(a);
  while (values != NULL)
    drop(values->version);
}

/* ---- the rest of the agent: one shard, all chunk servers up, the index complete ---- */

static const layout_options one_shard = {.scheme = "rs", .k = 1, .m = 1};

const layout_options *layout_get(const layout *l) {
  (void)l;
  return &one_shard;
}

unsigned layout_shards(const layout *l) {
  (void)l;
  return one_shard.k + one_shard.m;
}

void layout_text(const layout_options *options, char text[LAYOUT_TEXT]) {
  snprintf(text, LAYOUT_TEXT, "%s %u %u", options->scheme, options->k, options->m);
}

uint64_t layout_at(const layout *l, unsigned turn, uint64_t ranks) {
  (void)l;
  (void)turn;
  return ranks;
}

int layout_repair(layout *l, const layout_rebuild *rebuild, const gfsmith_graph **graph,
                  char *reason) {
  (void)l;
  (void)rebuild;
  (void)reason;
  *graph = NULL;
  return GFSMITH_ETOOMANY;
}

bool recover_waits(const agent *a, char reason[AGENT_REASON]) {
  (void)a;
  (void)reason;
  return false;
}

bool node_serves(const node *n) {
  (void)n;
  return true;
}

bool nodes_writable(const agent *a, char reason[AGENT_REASON]) {
  (void)a;
  (void)reason;
  return true;
}
