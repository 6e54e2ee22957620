/* Recovery of the index after a start, when the agent has only the group. For every acknowledged
 * value, each chunk server whose memory belongs to the group has its chunk, and m + 1 of them have
 * the record; so any k of them together have every record. The index is built when a quorum of
 * them, at least k, have sent their lists: for each key, the highest version of which all of them
 * have a chunk, or that can be decoded. All other versions remain from a write that was never
 * acknowledged, or from a value that was replaced or deleted: sync.c removes them.
 *
 * The next recovery, from other lists, must decide the same about a write that was not
 * acknowledged. So these chunk servers delete nothing before all of them have their records: until
 * then, an older version may be the only one that the next recovery finds. And clients wait until
 * each of these chunk servers has removed the other versions and has the records: all records, if a
 * server that should have some is not among them. */
#include "recover.h"

#include "common/report.h"
#include "index.h"
#include "node.h"

#include <stdlib.h>
#include <string.h>

/* The others probably come soon after the first: without them, all records have to be copied. */
enum { QUORUM_WAIT_MS = 500 };

static bool whole(const agent *a, const node *n) {
  return n->state == NODE_LISTED &&
         memcmp(n->incarnation, a->group.incarnation[n->rank], GROUP_ID) == 0;
}

/* Number of lists from which the index is built: as many as there are if as many chunk servers are
 * lost as the code bears in any combination, but not more than necessary. */
static unsigned quorum(const agent *a) {
  const layout_options *o = layout_get(a->layout);
  unsigned bearable = strcmp(o->scheme, "lrc") == 0 ? o->r + 1 : o->m;
  unsigned there = agent_nodes(a) - bearable, enough = o->m + 1 > o->k ? o->m + 1 : o->k;
  return there < enough ? there > o->k ? there : o->k : enough;
}

bool recover_waits(const agent *a, char reason[AGENT_REASON]) {
  unsigned there = 0;
  if (a->closed && a->doubters == 0)
    return false;
  if (a->closed) {
    strcpy(reason, "unknown until all chunk servers agree, missing:");
    for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
      if (a->doubters >> rank & 1)
        append(reason, " %u", rank);
    return true;
  }
  if (!a->group.formed) {
    strcpy(reason, "starting: ");
    append(reason, "%s",
           a->trouble[0] != '\0' ? a->trouble
                                 : "not all chunk servers are available yet, missing:");
    for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
      if (a->nodes[rank].address[0] == '\0')
        append(reason, " %u", rank);
    return true;
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    there += whole(a, &a->nodes[rank]);
  reason[0] = '\0';
  append(reason, "unknown until %u chunk servers have sent their lists, %u have:", quorum(a),
         there);
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    const node *n = &a->nodes[rank];
    if (!whole(a, n))
      append(reason, " %u %s,", rank,
             n->state == NODE_LISTED ? "has lost its memory" : node_words(a, rank));
  }
  reason[strlen(reason) - 1] = '\0';
  return true;
}

/* A version that may be the current one of its key. */
typedef struct candidate {
  record record;
  uint64_t have, records; /* ranks */
  UT_hash_handle hh;
} candidate;

static void forget(candidate **all) {
  candidate *c, *next;
  HASH_ITER(hh, *all, c, next) {
    HASH_DEL(*all, c);
    free(c);
  }
}

/* Add a version, without ranks. NULL: no memory. */
static candidate *add(candidate **all, const record *r) {
  candidate *c = calloc(1, sizeof *c);
  if (c == NULL)
    return NULL;
  c->record = *r;
  HASH_ADD(hh, *all, record.version, sizeof(uint64_t), c);
  if (TABLE_HAS(c, hh))
    return c;
  free(c);
  return NULL;
}

/* Collect the versions in the lists. False: no memory. */
static bool collect(const agent *a, candidate **all) {
  candidate *c;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    const node *n = &a->nodes[rank];
    for (size_t i = 0; n->state == NODE_LISTED && i < n->record_count; i++) {
      HASH_FIND(hh, *all, &n->records[i].version, sizeof(uint64_t), c);
      if (c == NULL && (c = add(all, &n->records[i])) == NULL)
        return false;
      c->records |= UINT64_C(1) << rank;
    }
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    const versions *v = &a->nodes[rank].chunks;
    for (size_t i = 0; a->nodes[rank].state == NODE_LISTED && i < v->count; i++) {
      HASH_FIND(hh, *all, &v->at[i], sizeof(uint64_t), c);
      if (c != NULL)
        c->have |= UINT64_C(1) << rank;
    }
  }
  return true;
}

static int by_version(const candidate *a, const candidate *b) {
  return (a->record.version > b->record.version) - (a->record.version < b->record.version);
}

/* May the version have been acknowledged? GFSMITH_OK: yes; GFSMITH_ENOMEM: unknown, for lack of
 * memory; else: no. If it may, each of the listed chunk servers has its chunk, unless it has been
 * found damaged. A chunk that is missing on more of them was deleted, by the agent. */
static int valid(agent *a, const candidate *c, uint64_t listed) {
  unsigned turn = index_turn(a, c->record.key, c->record.key_bytes);
  if ((c->have & listed) == listed)
    return GFSMITH_OK;
  return index_readable(a, turn, layout_at(a->layout, turn, c->have));
}

/* False: no memory, and the index is empty. */
static bool build(agent *a, uint64_t listed) {
  candidate *all = NULL;
  uint64_t old;
  bool complete = collect(a, &all);
  HASH_SORT(all, by_version);
  for (const candidate *c = all; complete && c != NULL; c = c->hh.next) {
    int status = valid(a, c, listed);
    if (status == GFSMITH_OK)
      complete = index_put(a, &c->record, c->have, c->records, &old);
    else
      complete = status != GFSMITH_ENOMEM;
  }
  if (!complete)
    index_clear(a);
  forget(&all);
  return complete;
}

bool recover_try(agent *a) {
  uint64_t listed = 0;
  unsigned count = 0;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (whole(a, &a->nodes[rank])) {
      listed |= UINT64_C(1) << rank;
      count++;
    }
  if (!a->group.formed || count < quorum(a))
    return false;
  if (a->quorum_ms == 0)
    a->quorum_ms = agent_now_ms();
  if (count < agent_nodes(a) && agent_now_ms() - a->quorum_ms < QUORUM_WAIT_MS)
    return false;
  if (!build(a, listed))
    return false;
  a->closed = true;
  a->deciders = a->doubters = a->copiers = listed;
  report("recovered %u values", HASH_CNT(by_key, a->by_key));
  return true;
}

void recover_agreed(agent *a, uint16_t rank) { a->doubters &= ~(UINT64_C(1) << rank); }

bool recover_undone(agent *a, uint16_t rank) {
  if (!(a->doubters >> rank & 1))
    return false;
  a->deciders = a->doubters = a->copiers = a->quorum_ms = 0;
  a->closed = false;
  index_clear(a);
  return true;
}
