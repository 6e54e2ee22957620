#include "index.h"

#include "node.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

unsigned index_turn(const agent *a, const char *key, size_t bytes) {
  return (unsigned)(XXH3_64bits(key, bytes) % agent_nodes(a));
}

entry *index_find(const agent *a, const char *key, size_t bytes) {
  entry *e;
  HASH_FIND(by_key, a->by_key, key, bytes, e);
  return e;
}

entry *index_version(const agent *a, uint64_t version) {
  entry *e;
  HASH_FIND(by_version, a->by_version, &version, sizeof version, e);
  return e;
}

static void add_to_totals(agent *a, const entry *e) {
  a->bytes += index_is_lost(e) ? 0 : e->record.length;
  a->lost += index_is_lost(e);
}

static void take_from_totals(agent *a, const entry *e) {
  a->bytes -= index_is_lost(e) ? 0 : e->record.length;
  a->lost -= index_is_lost(e);
}

void index_lose(agent *a, entry *e) {
  take_from_totals(a, e);
  e->record.length = RECORD_LOST;
  add_to_totals(a, e);
}

void index_remove(agent *a, entry *e) {
  if (a->look == e)
    a->look = e->by_key.next;
  take_from_totals(a, e);
  HASH_DELETE(by_key, a->by_key, e);
  HASH_DELETE(by_version, a->by_version, e);
  free(e);
}

bool index_put(agent *a, const record *r, uint64_t have, uint64_t records, uint64_t *old) {
  entry *replaced = index_find(a, r->key, r->key_bytes);
  entry *e = calloc(1, offsetof(entry, record) + record_bytes(r));
  if (e == NULL)
    return false;
  record_copy(&e->record, r);
  e->have = have;
  e->records = records;
  HASH_ADD_KEYPTR(by_key, a->by_key, e->record.key, e->record.key_bytes, e);
  if (TABLE_HAS(e, by_key))
    HASH_ADD_KEYPTR(by_version, a->by_version, &e->record.version, sizeof e->record.version, e);
  if (!TABLE_HAS(e, by_version)) {
    if (TABLE_HAS(e, by_key))
      HASH_DELETE(by_key, a->by_key, e);
    free(e);
    return false;
  }
  add_to_totals(a, e);
  e->old = *old = replaced == NULL ? 0 : replaced->record.version;
  if (replaced != NULL)
    index_remove(a, replaced);
  return true;
}

void index_clear(agent *a) {
  entry *e, *next;
  HASH_ITER(by_key, a->by_key, e, next) { index_remove(a, e); }
}

bool index_expired(const entry *e) {
  return e->record.expires != 0 && e->record.expires <= (int64_t)time(NULL);
}

uint64_t index_present(const agent *a, const entry *e) {
  unsigned turn = index_turn(a, e->record.key, e->record.key_bytes);
  uint64_t ranks = 0;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (node_serves(&a->nodes[rank]))
      ranks |= UINT64_C(1) << rank;
  return layout_at(a->layout, turn, ranks & e->have);
}

int index_readable(agent *a, unsigned turn, uint64_t present) {
  uint64_t data = (UINT64_C(1) << layout_get(a->layout)->k) - 1;
  char reason[GFSMITH_REASON_MAX];
  const gfsmith_graph *graph;
  layout_rebuild rebuild = {present, data & ~present, (uint16_t)turn, LAYOUT_AGENT, false};
  return rebuild.wanted == 0 ? GFSMITH_OK : layout_repair(a->layout, &rebuild, &graph, reason);
}

bool index_beyond_repair(agent *a, const entry *e) {
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (!a->nodes[rank].known || !node_serves(&a->nodes[rank]))
      return false;
  int status =
      index_readable(a, index_turn(a, e->record.key, e->record.key_bytes), index_present(a, e));
  return status != GFSMITH_OK && status != GFSMITH_ENOMEM;
}
