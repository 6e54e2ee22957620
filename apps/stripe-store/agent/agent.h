/* The agent: serves memcached's protocol to clients, keeps the index, and makes the chunk servers
 * encode, read and rebuild. It has one thread; the network's engine has another (common/net.h).
 */
#ifndef STORE_AGENT_H
#define STORE_AGENT_H

#include "common/answer.h"
#include "common/layout.h"
#include "common/net.h"
#include "common/record.h"
#include "draw.h"
#include "group.h"

#include <uthash.h>

enum { RANKS = LAYOUT_SHARDS_MAX + 1, AGENT_REASON = 512 };

typedef struct agent agent;
typedef struct stripe stripe;

/* ---- call.c: a request to several chunk servers, and perhaps a local operation ----------- */

typedef struct result {
  int status;       /* GFSMITH_OK, or the status of the first failure */
  uint64_t missing; /* ranks that do not have their chunk */
  uint64_t unable;  /* ranks that cannot take part; the next try avoids them */
  char reason[AGENT_REASON];
} result;

typedef struct call call;
typedef void call_done(void *owner, const result *r);

/* Begin a call. `done` is called once, from the loop, after call_go, at the deadline at the latest.
 * A local operation that failed may end later; its resources are kept until then. */
call *call_begin(agent *a, unsigned ms, call_done *done, void *owner);
void call_hold(call *c, stripe *used);
/* The call is over when the local operation has succeeded: the requested data are then present.
 * Outstanding answers are not awaited. */
void call_ours(call *c);
uint64_t call_id(const call *c);
/* The deadline of the local operation: it ends first, so that the chunk servers without an answer
 * are known. */
unsigned call_limit(const call *c);
/* The deadline of a chunk server's part: it ends before the local operation, so that its answer
 * still arrives. */
unsigned call_share(const call *c);
/* Send a request; epoch, request and deadline are filled in. */
void call_ask(call *c, uint16_t rank, message *m);
/* The notice of the local operation; pass its status afterwards. */
gfsmith_notice call_notice(call *c);
void call_posted(call *c, const gfsmith_notice *notice, int status);
void call_go(call *c);
/* Handle an answer. */
void call_answer(agent *a, uint16_t rank, const message *m);
void call_lost(agent *a, uint16_t rank, const char *why);
void calls_let_go(agent *a);
void calls_free(agent *a);

/* ---- index.c: the existing values ------------------------------------------------------ */

typedef struct entry {
  record record;
  uint64_t have;    /* ranks that have their chunk */
  uint64_t records; /* ranks that have the record */
  UT_hash_handle by_key, by_version;
} entry;

typedef struct lock lock;

unsigned index_turn(const agent *a, const char *key, size_t bytes);
entry *index_find(const agent *a, const char *key, size_t bytes);
entry *index_version(const agent *a, uint64_t version);
/* Replace the entry of a key. Return the old entry's version, or 0. */
uint64_t index_put(agent *a, const record *r, uint64_t have, uint64_t records);
void index_remove(agent *a, entry *e);
void index_clear(agent *a);
bool index_expired(const entry *e);
/* Bytes of a value's chunk, at least 1. */
size_t index_chunk(const agent *a, uint64_t length);
/* The shards of an entry that are available now, and whether they suffice. */
uint64_t index_present(const agent *a, const entry *e);
bool index_readable(agent *a, unsigned turn, uint64_t present);

/* lock.c: one writer of a key at a time, in the order of requests */
typedef void lock_granted(void *owner);
void lock_take(agent *a, const char *key, size_t bytes, lock_granted *granted, void *owner);
void lock_release(agent *a, const char *key, size_t bytes);
void locks_free(agent *a);

/* ---- node.c, sync.c, recover.c: the chunk servers
 * ------------------------------------------------------ */

typedef enum node_state {
  NODE_AWAY,    /* no link, or its memcached is down */
  NODE_SILENT,  /* no answer within the deadline; pinged until it answers */
  NODE_LISTING, /* sends the list of its chunks and records */
  NODE_LISTED,  /* the list is complete */
  NODE_SYNCING, /* removes chunks and records that it should not have, and gets missing ones */
  NODE_UP
} node_state;

typedef struct versions {
  uint64_t *at;
  size_t count, room;
} versions;
void versions_add(versions *v, uint64_t version);
void versions_free(versions *v);

typedef struct sync sync_job;

typedef struct node {
  agent *agent;
  uint16_t rank;
  node_state state;
  bool linked, pinged;
  bool begun, more; /* the list has been requested; more parts of it follow */
  bool known;       /* since the start of this agent, its list has been compared with the index */
  char address[80]; /* for the other chunk servers; "": unknown */
  uint8_t incarnation[GROUP_ID];
  versions chunks; /* from its list */
  record *records;
  size_t record_count;
  sync_job *sync;
} node;

void node_link(agent *a, uint16_t rank, bool up);
void node_hello(agent *a, uint16_t rank, const message *m);
void node_listed(agent *a, uint16_t rank, const message *m);
void node_gone(agent *a, uint16_t rank, const char *why); /* its memcached is down */
/* There was no answer within the deadline. */
void node_silent(agent *a, uint16_t rank);
/* A chunk that should be stored is missing: it will be rebuilt. */
void node_missing(agent *a, uint16_t rank, uint64_t version);
void node_forget_lists(node *n);
void node_set_state(node *n, node_state state);
/* The chunk server is up, but lacks some of its chunks or records. */
void node_heal(node *n);
void node_tick(agent *a);
/* Can its chunks be read? */
bool node_serves(const node *n);
const char *node_words(const agent *a, uint16_t rank);
/* Are all chunk servers up and complete, so that writes are accepted? Otherwise the reason. */
bool nodes_writable(const agent *a, char reason[AGENT_REASON]);
/* Continue activities that wait for more chunk servers: forming a group, completing the index,
 * synchronization. */
void nodes_advance(agent *a);

/* `listed`: its list must first be compared with the index. */
void sync_begin(node *n, bool listed);
void sync_abandon(node *n);
void sync_tick(agent *a);

/* Build the index, once, when enough chunk servers have sent their lists. */
bool recover_try(agent *a);
/* Is the index not yet built? Then the reason. */
bool recover_waits(const agent *a, char reason[AGENT_REASON]);

/* ---- read.c, write.c
 * ----------------------------------------------------------------------------- */

/* Memory of a value: its k chunks, contiguous. */
struct stripe {
  agent *agent;
  unsigned users; /* freed when the last user releases it */
  uint8_t *bytes;
  size_t length, chunk, room;
};
/* NULL: the agent's memory limit is exceeded. */
stripe *stripe_new(agent *a, uint64_t length);
void stripe_free(stripe *s);

/* The caller owns `value`; NULL: not read, with the reason. */
typedef void read_done(void *owner, stripe *value, const char *reason);
void read_begin(agent *a, const entry *e, read_done *done, void *owner);

/* NULL: success. Otherwise the reason for the failure. */
typedef void write_done(void *owner, const char *reason);
/* Must be called under the lock of the key. Takes over the value. */
void write_begin(agent *a, const record *r, stripe *value, write_done *done, void *owner);
void remove_begin(agent *a, const entry *e, write_done *done, void *owner);
/* Delete all values. */
void wipe_begin(agent *a, write_done *done, void *owner);
void wipe_tick(agent *a);
/* Send these ranks a request to delete a version, without an answer. */
void free_version(agent *a, uint64_t ranks, uint64_t version);

/* ---- the agent ---------------------------------------------------------------------------------
 */

typedef struct counters {
  uint64_t gets, hits, sets, deletes, degraded, retried, refused, rebuilt, clients;
} counters;

struct agent {
  const char *folder;
  struct event_base *base;
  struct event *tick;
  net *net;
  layout *layout;
  group group;
  char trouble[AGENT_REASON]; /* the reason why the group cannot be written; "": it can */
  bool closed;                /* the index is built */
  uint64_t changes;           /* number of times that a chunk server has left NODE_UP */
  uint32_t counter;           /* counter of versions and requests within the epoch */
  node nodes[RANKS];          /* by rank, from 1 */
  call *calls;
  entry *by_key, *by_version;
  lock *locks;
  uint64_t value_max;
  uint64_t memory, memory_max; /* bytes of values in transit */
  unsigned deadline_ms;
  struct wipe *wipe; /* flush_all, while it runs */
  draw *draw;
  counters counters;
  struct evconnlistener *listener;
  struct client *clients;
};

unsigned agent_nodes(const agent *a); /* k + m */
uint64_t agent_all(const agent *a);   /* the mask of their ranks */
/* A unique number for a version, request or job: the epoch, then a counter. */
uint64_t agent_number(agent *a);
uint64_t agent_now_ms(void);
/* Write this group and use it from now on. False: failed; the reason is stored in `trouble` and
 * reported once. */
bool agent_save_group(agent *a, const group *fresh);
/* Append text, truncated to AGENT_REASON. */
void append(char reason[AGENT_REASON], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
