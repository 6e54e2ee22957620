/* The agent: speaks memcached's protocol to clients, keeps the index, and has the chunk servers of
 * its stripe encode, read and rebuild. One thread; the network's engine has another (common/net.h).
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

/* ---- call.c: a request to several chunk servers, and perhaps an operation of our own -----------
 */

typedef struct result {
  int status;       /* GFSMITH_OK, or of the first that failed */
  uint64_t missing; /* ranks that do not have their chunk */
  uint64_t unable;  /* ranks that cannot take part: to be avoided by the next try */
  char reason[AGENT_REASON];
} result;

typedef struct call call;
typedef void call_done(void *owner, const result *r);

/* `done` is called once, from the loop, after call_go, at the deadline at the latest. An operation
 * of ours that failed may still end after it: what it uses is held. */
call *call_begin(agent *a, unsigned ms, call_done *done, void *owner);
void call_hold(call *c, stripe *used);
/* It is over when our own operation has ended well: what was asked for is there then. Those who
 * have not said so yet are not waited for. */
void call_ours(call *c);
uint64_t call_id(const call *c);
/* The deadline of our own part: ours comes first, and knows who did not answer. */
unsigned call_limit(const call *c);
/* The deadline of a chunk server's part: it ends before ours, so that its answer still arrives. */
unsigned call_share(const call *c);
/* Epoch, request and deadline are filled in. */
void call_ask(call *c, uint16_t rank, message *m);
/* Our own part: it is posted with this notice, then its status is told. */
gfsmith_notice call_notice(call *c);
void call_posted(call *c, const gfsmith_notice *notice, int status);
void call_go(call *c);
/* What arrives. */
void call_answer(agent *a, uint16_t rank, const message *m);
void call_lost(agent *a, uint16_t rank, const char *why);
void calls_let_go(agent *a);
void calls_free(agent *a);

/* ---- index.c: the values that there are ------------------------------------------------------ */

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
/* In place of what was under its key; the old entry's version, or 0. */
uint64_t index_put(agent *a, const record *r, uint64_t have, uint64_t records);
void index_remove(agent *a, entry *e);
void index_clear(agent *a);
bool index_expired(const entry *e);
/* Bytes of a chunk of a value: at least 1. */
size_t index_chunk(const agent *a, uint64_t length);
/* The shards of an entry that can be had now, and whether they are enough. */
uint64_t index_present(const agent *a, const entry *e);
bool index_readable(agent *a, unsigned turn, uint64_t present);

/* lock.c: one writer of a key at a time, in the order of asking */
typedef void lock_granted(void *owner);
void lock_take(agent *a, const char *key, size_t bytes, lock_granted *granted, void *owner);
void lock_release(agent *a, const char *key, size_t bytes);
void locks_free(agent *a);

/* ---- node.c, sync.c, recover.c: the chunk servers
 * ------------------------------------------------------ */

typedef enum node_state {
  NODE_AWAY,    /* no link, or its memcached is gone */
  NODE_SILENT,  /* it did not answer in time; pinged until it does */
  NODE_LISTING, /* it tells what it has */
  NODE_LISTED,  /* it has told */
  NODE_SYNCING, /* it forgets what it should not have, and gets what it should */
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
  bool begun, more; /* of what it has it has been asked; is more to be told */
  bool known;       /* since this agent runs, the index has been compared with what it has */
  char address[80]; /* for the other chunk servers; "": not known */
  uint8_t incarnation[GROUP_ID];
  versions chunks; /* as it told */
  record *records;
  size_t record_count;
  sync_job *sync;
} node;

void node_link(agent *a, uint16_t rank, bool up);
void node_hello(agent *a, uint16_t rank, const message *m);
void node_listed(agent *a, uint16_t rank, const message *m);
void node_gone(agent *a, uint16_t rank, const char *why); /* its memcached */
/* It did not answer within a deadline. */
void node_silent(agent *a, uint16_t rank);
/* A chunk that should be there is not: it will be rebuilt. */
void node_missing(agent *a, uint16_t rank, uint64_t version);
void node_forget_lists(node *n);
void node_set_state(node *n, node_state state);
/* It is up, but not all of its chunks or records are there. */
void node_heal(node *n);
void node_tick(agent *a);
/* May its chunks be read? */
bool node_serves(const node *n);
const char *node_words(const agent *a, uint16_t rank);
/* Everybody is there and has everything: writes are taken. Otherwise why not. */
bool nodes_writable(const agent *a, char reason[AGENT_REASON]);
/* Go on with what waits for more chunk servers: forming a group, closing the index, bringing up to
 * date. */
void nodes_advance(agent *a);

/* `listed`: what it told is to be compared with the index first. */
void sync_begin(node *n, bool listed);
void sync_abandon(node *n);
void sync_tick(agent *a);

/* Enough chunk servers have told what they have: the index is built, once. */
bool recover_try(agent *a);
/* Is the index not built yet? Then why. */
bool recover_waits(const agent *a, char reason[AGENT_REASON]);

/* ---- read.c, write.c
 * ----------------------------------------------------------------------------- */

/* Memory of a value: its k chunks one after the other. */
struct stripe {
  agent *agent;
  unsigned users; /* freed when the last one has freed it */
  uint8_t *bytes;
  size_t length, chunk, room;
};
/* NULL: over the agent's limit. */
stripe *stripe_new(agent *a, uint64_t length);
void stripe_free(stripe *s);

/* `value` is the caller's then; NULL: not read, with the reason. */
typedef void read_done(void *owner, stripe *value, const char *reason);
void read_begin(agent *a, const entry *e, read_done *done, void *owner);

/* NULL: done. Otherwise not done, with the reason. */
typedef void write_done(void *owner, const char *reason);
/* Under the lock of its key. The value is taken. */
void write_begin(agent *a, const record *r, stripe *value, write_done *done, void *owner);
void remove_begin(agent *a, const entry *e, write_done *done, void *owner);
/* Forget everything. */
void wipe_begin(agent *a, write_done *done, void *owner);
void wipe_tick(agent *a);
/* Tell these ranks to forget a version; nobody waits for it. */
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
  char trouble[AGENT_REASON]; /* why the group cannot be written; "": it can */
  bool closed;                /* the index is built */
  uint64_t changes;           /* counts whenever a chunk server leaves NODE_UP */
  uint32_t counter;           /* of versions and requests within the epoch */
  node nodes[RANKS];          /* by rank, from 1 */
  call *calls;
  entry *by_key, *by_version;
  lock *locks;
  uint64_t value_max;
  uint64_t memory, memory_max; /* bytes of values on their way */
  unsigned deadline_ms;
  struct wipe *wipe; /* flush_all, while it runs */
  draw *draw;
  counters counters;
  struct evconnlistener *listener;
  struct client *clients;
};

unsigned agent_nodes(const agent *a); /* k + m */
uint64_t agent_all(const agent *a);   /* their ranks */
/* A number that no other version, request or job has: the epoch, then a counter. */
uint64_t agent_number(agent *a);
uint64_t agent_now_ms(void);
/* Write this group and have it from now on. False: `trouble`, which is told once. */
bool agent_save_group(agent *a, const group *fresh);
/* Text that ends before AGENT_REASON. */
void append(char reason[AGENT_REASON], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
