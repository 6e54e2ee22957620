/* The index: the existing values. */
#ifndef STORE_INDEX_H
#define STORE_INDEX_H

#include "agent.h"
#include "common/table.h"

typedef struct entry {
  uint64_t have;    /* ranks that have their chunk */
  uint64_t records; /* ranks that have the record */
  uint64_t old;     /* the version that it has replaced, of which chunks may be left; 0: none */
  bool spread;      /* a replica has no room for the record: all chunk servers get it */
  UT_hash_handle by_key, by_version;
  record record; /* without the rest of its key: there may be many */
} entry;

/* Has it been recorded that too few chunks are left? */
static inline bool index_is_lost(const entry *e) { return e->record.length == RECORD_LOST; }
unsigned index_turn(const agent *a, const char *key, size_t bytes);
entry *index_find(const agent *a, const char *key, size_t bytes);
entry *index_version(const agent *a, uint64_t version);
/* Replace the entry of a key; *old is its version, or 0. False: no memory, and nothing is changed.
 */
bool index_put(agent *a, const record *r, uint64_t have, uint64_t records, uint64_t *old);
void index_remove(agent *a, entry *e);
/* Record that too few chunks are left. */
void index_lose(agent *a, entry *e);
void index_clear(agent *a);
bool index_expired(const entry *e);
/* The shards of an entry that are available now. */
uint64_t index_present(const agent *a, const entry *e);
/* Are all chunk servers here, and too few chunks of the value? */
bool index_beyond_repair(agent *a, const entry *e);
/* Do these shards suffice? GFSMITH_OK: yes; GFSMITH_ENOMEM: unknown, for lack of memory; else: no.
 */
int index_readable(agent *a, unsigned turn, uint64_t present);

#endif
