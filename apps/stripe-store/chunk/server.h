/* The data of a chunk server, which keeps chunks and records in its memcached and takes part in
 * graphs; its answers to the agent. */
#ifndef STORE_SERVER_H
#define STORE_SERVER_H

#include "common/layout.h"
#include "common/net.h"
#include "kept.h"

enum {
  CHUNK_MAX = 64 << 20,      /* most bytes of a chunk */
  JOBS_MEMORY = 512 << 20,   /* most bytes of chunks in transit */
  LISTED_ROOM = MESSAGE_BODY /* bytes of a part of a list */
};

struct job;

typedef struct server {
  const char *folder;
  uint16_t rank;
  struct event_base *base;
  struct event *tick, *watch;
  net *net;
  trace *trace; /* NULL: none */
  char host[64];
  kept *kept;
  identity who;
  bool identified;   /* `who` is that of the items */
  unsigned failures; /* consecutive failures to connect to memcached */
  char refusal[256]; /* the last complaint, which is reported once */
  char agent[80];    /* its last known address */
  bool linked;       /* is there a link to the agent? */
  unsigned wipes;    /* deletions of all items that run: they change its incarnation */
  bool greeted;      /* the agent has been notified that the memcached is running */
  bool welcomed;     /* the agent at the other end of the link has been accepted */
  layout *layout;    /* NULL until the welcome of the agent */
  struct job *jobs;
  void (*drop_jobs)(struct server *s); /* of job.c, which depends on this module */
  size_t jobs_bytes;
  kept_list list; /* the list that is being sent */
  size_t told;    /* entries sent so far: chunks, records, damaged ones */
} server;

/* Report a text, unless it is the last one that was reported. */
void server_complain(server *s, const char *what);
/* The items are not accessible, or were not: notify the agent, drop the jobs. */
void server_lost_kept(server *s);
/* Answer a request; with KEPT_GONE, also call server_lost_kept. */
void server_answer(server *s, uint64_t request, int status, const char *reason);
void server_answer_outcome(server *s, uint64_t request, const gfsmith_outcome *outcome);
void server_answer_kept(server *s, uint64_t request, kept_status status);
/* A ticket whose change is answered when it is done. */
kept_ticket server_ticket(uint64_t request, const char *point);

#endif
