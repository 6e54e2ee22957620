/* The data of the agent, which serves memcached's protocol to clients, keeps the index, and makes
 * the chunk servers encode, read and rebuild. The agent has one thread; the network's engine has
 * another (common/net.h). */
#ifndef STORE_AGENT_H
#define STORE_AGENT_H

#include "common/layout.h"
#include "common/net.h"
#include "failures.h"
#include "group.h"
#include "records.h"
#include "versions.h"

enum { RANKS = LAYOUT_SHARDS_MAX + 1, AGENT_REASON = 512 };

typedef struct agent agent;
struct client;

typedef enum node_state {
  NODE_AWAY,    /* no link, or its memcached is down */
  NODE_SILENT,  /* no answer within the deadline; pinged until it answers */
  NODE_LISTING, /* sends the list of its chunks and records */
  NODE_LISTED,  /* the list is complete */
  NODE_SYNCING, /* removes chunks and records that it should not have, and gets missing ones */
  NODE_UP
} node_state;

/* A chunk server. */
typedef struct node {
  agent *agent;
  uint16_t rank;
  node_state state;
  bool linked, pinged;
  bool unheard;     /* its greeting is wanted again */
  bool begun, more; /* the list has been requested; more parts of it follow */
  bool listed;      /* the list has still to be compared with the index */
  bool known;       /* since the start of this agent, its list has been compared with the index */
  char address[80]; /* for the other chunk servers; "": unknown */
  uint8_t incarnation[GROUP_ID];
  versions chunks; /* from its list */
  records records;
  versions damaged; /* their chunk or record there is damaged */
  struct sync *sync;
} node;

typedef struct counters {
  uint64_t gets, hits, sets, deletes, degraded, retried, refused, rebuilt, clients;
} counters;

/* Functions of modules that depend on the callers, so that includes and calls run one way. */
typedef struct agent_events {
  /* Called by call.c: a chunk server did not answer within the deadline. */
  void (*silent)(agent *a, uint16_t rank);
  /* Called by write.c: a chunk server may have kept a version that it should have deleted. */
  void (*unsure)(agent *a, uint16_t rank);
  /* Called by client.c: a request has arrived, with its value; ends with client_over. */
  void (*request)(struct client *c);
} agent_events;

struct agent {
  const char *folder;
  struct event_base *base;
  struct event *tick;
  net *net;
  trace *trace; /* NULL: none */
  layout *layout;
  agent_events events;
  group group;
  uint64_t start;             /* random: an agent with a copy of the folder has another one */
  char trouble[AGENT_REASON]; /* the reason why the group cannot be written; "": it can */
  bool closed;                /* the index is built */
  struct recovery *recovery;  /* while it is being built */
  uint64_t checked;           /* the version that is being read for that; 0: none */
  bool hesitates;     /* it waits for all chunk servers, because chunks or records are damaged or
                         missing */
  uint64_t quorum_ms; /* time when enough lists for it had arrived; 0: not yet */
  uint64_t deciders;  /* ranks from whose lists it was built after a start */
  uint64_t doubters;  /* those that do not agree with it yet: clients wait for them */
  uint64_t copiers;   /* those that lack records: nothing is deleted until all have copied */
  uint64_t changes;   /* number of times that a chunk server has left NODE_UP */
  uint64_t number;    /* the last agent_number */
  node nodes[RANKS];  /* by rank, from 1 */
  struct call *calls;
  struct entry *by_key, *by_version;
  uint64_t bytes, lost; /* of all values: their bytes; the number of lost ones */
  struct entry *look;   /* at which the search for expired values goes on; NULL: at the first */
  unsigned expiring;    /* removals of expired values that run */
  struct lock *locks;
  uint64_t value_max;
  uint64_t memory, memory_max; /* bytes of values in transit */
  bool starved;                /* since the last tick, there was no memory for one */
  unsigned deadline_ms;
  unsigned clients_max;
  unsigned idle_s, stall_s; /* timeouts of clients, in seconds; 0: none */
  struct ssl_ctx_st *tls; /* the connections of clients are encrypted with it; NULL: they are not */
  struct event *renewal;  /* of the certificate */
  bool auth;              /* clients have to authenticate themselves */
  bool locked_out;        /* the passwords cannot be used, which has been reported */
  bool deaf;              /* clients cannot be accepted at the moment */
  uint64_t complained_ms; /* time of the last report about that; 0: none */
  struct flush *flush;    /* flush_all, while it runs */
  bool wipes; /* chunk servers delete all values: their lists are not compared with the index */
  failures *failures;
  counters counters;
  struct evconnlistener *listener, *local; /* for clients; for programs of the same user */
  struct client *clients;
};

unsigned agent_nodes(const agent *a); /* k + m */
uint64_t agent_all(const agent *a);   /* the mask of their ranks */
/* A unique number for a version, request or job, higher than all previous ones: the epoch in the
 * upper 32 bits, then a counter. If no number of the epoch is left, the process ends with a
 * message. */
uint64_t agent_number(agent *a);
/* Begin the next epoch. False, with a message: the group cannot be written, or there is no other.
 */
bool agent_begin_epoch(agent *a);
/* Begin the next epoch when half of the numbers are used. True: begun; the chunk servers have to be
 * welcomed again, because requests carry the epoch. */
bool agent_tick(agent *a);
uint64_t agent_now_ms(void);
/* The reason for the failure of a request for which the system has no memory. */
extern const char no_memory[];
/* Write this group and use it from now on. False: failed; the reason is stored in `trouble` and
 * reported once. If it may be in the file nevertheless, its `flushing` is used. */
bool agent_save_group(agent *a, const group *fresh);
/* Append text, truncated to AGENT_REASON. */
void append(char reason[AGENT_REASON], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
