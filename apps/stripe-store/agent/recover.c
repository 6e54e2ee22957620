/* Recovery of the index after a start, when the agent has only the group. For every acknowledged
 * value, each chunk server whose memory belongs to the group has its chunk, and m + 1 of them have
 * the record; so any k of them together have every record. The index is built when a quorum of
 * them, at least k, have sent their lists: for each key, the highest version of which all of them
 * have a chunk, or that can be decoded. All other versions remain from a write that was never
 * acknowledged, or from a value that was replaced or deleted: sync.c removes them.
 *
 * The names of the chunks do not tell whether the chunks are damaged. So check.c reads a version
 * that would replace an older one, unless all chunk servers have a chunk of it, and one that was
 * never acknowledged. If it cannot be read, and one of the chunk servers has no chunk of it, no
 * client has read it: an earlier recovery that chose it would have noted that chunk server, as
 * described below. So the older version is chosen, or none. If all of them have a chunk, it may
 * have been acknowledged: recovery waits for the other chunk servers.
 *
 * A chosen version may lack a chunk on a chunk server of the group: on one with a list, because it
 * was never acknowledged, or on one that is away. The group marks these chunk servers as `behind`,
 * until they are up to date: their missing chunks do not count in the next recovery. A chunk server
 * also lists the versions of damaged chunks and records; they count as if they were there.
 * If only the version of a damaged record is known, recovery waits for all chunk servers, and
 * likewise if a version counts only because others are behind, and has too few chunks.
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

/* A version that may be the current one of its key. */
typedef struct candidate {
  uint64_t have, damaged, records; /* ranks; with a damaged item: perhaps with a damaged chunk */
  bool doubtful;                   /* it has to be read before it may replace an older version */
  struct candidate *older;         /* of its key, which may be chosen instead; NULL: none */
  UT_hash_handle hh;
  record record; /* without the rest of its key */
} candidate;

typedef struct recovery {
  uint64_t listed; /* ranks from whose lists the index is built */
  uint64_t full;   /* those that have, or had, a chunk of every value that counts */
  candidate *all;  /* the oldest version first */
  candidate *look; /* of those before it, only `chosen` may have to be read; NULL: all are before */
  candidate *chosen; /* instead of the newest one of its key; NULL: none yet */
  candidate *lost;   /* the newest of this key that may count and cannot be read; NULL: none */
  bool unclear;      /* a damaged item has no record in the lists: it may belong to an acknowledged
                        value whose other records are on the chunk servers that are away */
} recovery;

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
  if (a->recovery != NULL) {
    append(reason, "unknown until the values written last have been read");
    return true;
  }
  append(reason, "unknown until %u chunk servers have sent their lists, %u have:",
         a->hesitates ? agent_nodes(a) : quorum(a), there);
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    const node *n = &a->nodes[rank];
    if (!whole(a, n))
      append(reason, " %u %s,", rank,
             n->state == NODE_LISTED ? "has lost its memory" : node_words(a, rank));
  }
  reason[strlen(reason) - 1] = '\0';
  return true;
}

bool recover_is_hopeless(const agent *a) {
  unsigned wholes = 0;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    if (a->nodes[rank].state != NODE_LISTED)
      return false;
    wholes += whole(a, &a->nodes[rank]);
  }
  return !a->closed && wholes < quorum(a);
}

static void forget(candidate **all) {
  candidate *c, *next;
  HASH_ITER(hh, *all, c, next) {
    HASH_DEL(*all, c);
    free(c);
  }
}

/* Add a version, without ranks. NULL: no memory. */
static candidate *add(candidate **all, const record *r) {
  candidate *c = calloc(1, offsetof(candidate, record) + record_bytes(r));
  if (c == NULL)
    return NULL;
  record_copy(&c->record, r);
  HASH_ADD(hh, *all, record.version, sizeof(uint64_t), c);
  if (TABLE_HAS(c, hh))
    return c;
  free(c);
  return NULL;
}

/* Does a chunk server not answer? */
static bool missing(const agent *a) {
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (!node_serves(&a->nodes[rank]))
      return true;
  return false;
}

/* Ranks that have a chunk of the version, or had it before it was damaged. */
static uint64_t named(const candidate *c) { return c->have | c->damaged; }

/* A record of a lost value replaces those from before the loss. */
static void add_record(candidate *c, const record *r, uint64_t bit) {
  if (r->length == RECORD_LOST && c->record.length != RECORD_LOST) {
    c->record.length = RECORD_LOST;
    c->records = 0;
  }
  if (r->length == c->record.length)
    c->records |= bit;
}

/* Note the damaged items in the lists. */
static void collect_damaged(const agent *a, recovery *r) {
  candidate *c;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    const node *n = &a->nodes[rank];
    for (size_t i = 0; n->state == NODE_LISTED && i < n->damaged.count; i++) {
      HASH_FIND(hh, r->all, &n->damaged.at[i], sizeof(uint64_t), c);
      if (c != NULL)
        c->damaged |= UINT64_C(1) << rank;
      else
        r->unclear = true;
    }
  }
}

/* Collect the versions in the lists. False: no memory. */
static bool collect(const agent *a, recovery *r) {
  candidate *c;
  record of;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    const node *n = &a->nodes[rank];
    for (size_t at = 0; n->state == NODE_LISTED && records_next(&n->records, &at, &of);) {
      HASH_FIND(hh, r->all, &of.version, sizeof(uint64_t), c);
      if (c == NULL && (c = add(&r->all, &of)) == NULL)
        return false;
      add_record(c, &of, UINT64_C(1) << rank);
    }
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    const versions *v = &a->nodes[rank].chunks;
    for (size_t i = 0; a->nodes[rank].state == NODE_LISTED && i < v->count; i++) {
      HASH_FIND(hh, r->all, &v->at[i], sizeof(uint64_t), c);
      if (c != NULL)
        c->have |= UINT64_C(1) << rank;
    }
  }
  collect_damaged(a, r);
  return true;
}

static int by_version(const candidate *a, const candidate *b) {
  return (a->record.version > b->record.version) - (a->record.version < b->record.version);
}

/* May it have been acknowledged, or chosen by an earlier recovery? Then each of the full chunk
 * servers has its chunk, or had it before it was damaged. */
static bool may_count(const recovery *r, const candidate *c) {
  return (named(c) & r->full) == r->full || c->record.length == RECORD_LOST;
}

/* Can it be decoded from the chunks of these ranks? GFSMITH_OK: yes; GFSMITH_ENOMEM: unknown, for
 * lack of memory; else: no. */
static int decodable(agent *a, const candidate *c, uint64_t ranks) {
  unsigned turn = index_turn(a, c->record.key, c->record.key_bytes);
  return index_readable(a, turn, layout_at(a->layout, turn, ranks));
}

/* May it be chosen? The status is that of decodable(). A version that counts could be decoded from
 * these chunks and those of the chunk servers without a list. */
static int valid(agent *a, const recovery *r, const candidate *c) {
  if (c->record.length == RECORD_LOST)
    return GFSMITH_OK;
  return decodable(a, c, may_count(r, c) ? named(c) | (agent_all(a) & ~r->listed) : c->have);
}

/* Does it have to be read before it is chosen? Without another version, not if it may count, unless
 * its chunks are too few: then the chunk servers that are away decide. With another one, because
 * one of its chunks may be damaged, unless it certainly counts. */
static bool is_doubtful(agent *a, const recovery *r, const candidate *c, bool other) {
  if (c->record.length == RECORD_LOST)
    return false;
  if (other)
    return named(c) != agent_all(a);
  return !may_count(r, c) || decodable(a, c, named(c)) != GFSMITH_OK;
}

/* Put the newest valid version of each key into the index. False: no memory. */
static bool build(agent *a, recovery *r) {
  uint64_t old;
  HASH_SORT(r->all, by_version);
  for (candidate *c = r->all; c != NULL; c = c->hh.next) {
    int status = valid(a, r, c);
    if (status == GFSMITH_ENOMEM)
      return false;
    if (status != GFSMITH_OK)
      continue;
    if (!index_put(a, &c->record, c->have, c->records, &old))
      return false;
    if (old != 0)
      HASH_FIND(hh, r->all, &old, sizeof old, c->older);
    c->doubtful = is_doubtful(a, r, c, old != 0);
  }
  r->look = r->all;
  return true;
}

void recover_stop(agent *a) {
  if (a->recovery == NULL)
    return;
  forget(&a->recovery->all);
  free(a->recovery);
  a->recovery = NULL;
}

/* Begin again, with the lists that will be there then. */
static void begin_again(agent *a) {
  recover_stop(a);
  index_clear(a);
  a->quorum_ms = 0;
}

static void hesitate(agent *a) {
  if (!a->hesitates)
    report("chunks or records are damaged or missing: waiting for all chunk servers");
  a->hesitates = true;
  begin_again(a);
}

/* False: no memory, or other lists are needed. */
static bool begin(agent *a, uint64_t listed) {
  a->recovery = calloc(1, sizeof *a->recovery);
  if (a->recovery == NULL)
    return false;
  a->recovery->listed = listed;
  a->recovery->full = listed & ~a->group.behind;
  bool collected = collect(a, a->recovery);
  if (collected && a->recovery->unclear && missing(a)) {
    hesitate(a);
    return false;
  }
  if (collected && build(a, a->recovery))
    return true;
  begin_again(a);
  return false;
}

/* Can recovery begin? Then the ranks with a list; else 0. */
static uint64_t enough_lists(agent *a) {
  uint64_t listed = 0;
  unsigned count = 0;
  bool more = false; /* a list is on its way, whose parts arrive in time */
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++) {
    more = more || (a->nodes[rank].state == NODE_LISTING && a->nodes[rank].begun);
    if (whole(a, &a->nodes[rank])) {
      listed |= UINT64_C(1) << rank;
      count++;
    }
  }
  if (!a->group.formed || count < quorum(a) || (a->hesitates && missing(a)))
    return 0;
  if (a->quorum_ms == 0)
    a->quorum_ms = agent_now_ms();
  bool early = agent_now_ms() - a->quorum_ms < QUORUM_WAIT_MS;
  return count < agent_nodes(a) && (early || more) ? 0 : listed;
}

/* Note the chunk servers that may lack a chunk of a chosen version. False: it cannot be written. */
static bool save_behind(agent *a) {
  const recovery *r = a->recovery;
  group fresh = a->group;
  fresh.behind |= agent_all(a) & ~r->listed;
  for (const candidate *c = r->all; c != NULL; c = c->hh.next)
    if (index_version(a, c->record.version) != NULL)
      fresh.behind |= r->listed & ~named(c);
  return fresh.behind == a->group.behind || agent_save_group(a, &fresh);
}

bool recover_try(agent *a) {
  if (a->recovery == NULL) {
    uint64_t listed = enough_lists(a);
    if (listed == 0 || !begin(a, listed))
      return false;
  }
  if (recover_doubt(a) != NULL || !save_behind(a))
    return false;
  a->closed = true;
  a->hesitates = false;
  a->deciders = a->doubters = a->copiers = a->recovery->listed;
  recover_stop(a);
  report("recovered %u values", HASH_CNT(by_key, a->by_key));
  return true;
}

static candidate *doubtful(const agent *a) {
  recovery *r = a->recovery;
  if (r != NULL && r->chosen != NULL && r->chosen->doubtful)
    return r->chosen;
  for (; r != NULL && r->look != NULL; r->look = r->look->hh.next)
    if (r->look->doubtful && index_version(a, r->look->record.version) != NULL)
      return r->look;
  return NULL;
}

const entry *recover_doubt(const agent *a) {
  const candidate *c = doubtful(a);
  return c == NULL ? NULL : index_version(a, c->record.version);
}

void recover_readable(agent *a) { doubtful(a)->doubtful = false; }

/* Put another version of the key into the index. */
static void choose(agent *a, candidate *c) {
  uint64_t old;
  a->recovery->chosen = c;
  if (!index_put(a, &c->record, c->have, c->records, &old))
    begin_again(a);
}

/* The older version of the key is chosen instead; if there is none, the newest one that may count,
 * which is lost then. */
void recover_unreadable(agent *a) {
  candidate *c = doubtful(a);
  recovery *r = a->recovery;
  bool counts = may_count(r, c);
  /* it may have been acknowledged, and the others may have its chunks */
  if (missing(a) && counts) {
    hesitate(a);
    return;
  }
  entry *e = index_version(a, c->record.version);
  c->doubtful = false;
  c->have = e->have;
  if (c != r->chosen)
    r->lost = NULL; /* of another key */
  if (r->lost == NULL && counts)
    r->lost = c;
  if (c->older != NULL)
    choose(a, c->older);
  else if (r->lost == NULL)
    index_remove(a, e);
  else if (r->lost != c)
    choose(a, r->lost);
}

void recover_unchecked(agent *a) { begin_again(a); }

void recover_agreed(agent *a, uint16_t rank) { a->doubters &= ~(UINT64_C(1) << rank); }

bool recover_undone(agent *a, uint16_t rank) {
  if (a->recovery != NULL && (a->recovery->listed >> rank & 1))
    begin_again(a);
  if (!(a->doubters >> rank & 1))
    return false;
  a->deciders = a->doubters = a->copiers = a->quorum_ms = 0;
  a->closed = false;
  index_clear(a);
  return true;
}
