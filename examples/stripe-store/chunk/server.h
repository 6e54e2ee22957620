/* A chunk server: keeps chunks and records in its memcached, and takes part in graphs. */
#ifndef STORE_SERVER_H
#define STORE_SERVER_H

#include "common/layout.h"
#include "common/net.h"
#include "kept.h"

#include <uthash.h>

enum {
  CHUNK_MAX = 64 << 20,      /* bytes of a chunk, at most */
  JOBS_MEMORY = 512 << 20,   /* bytes of chunks on their way, at most */
  LISTED_ROOM = MESSAGE_BODY /* bytes of a part of a list */
};

struct job;

typedef struct server {
  const char *folder;
  uint16_t rank;
  struct event_base *base;
  struct event *tick, *watch;
  net *net;
  char host[64];
  kept *kept;
  identity who;
  unsigned failures; /* to connect to memcached, one after the other */
  char refusal[256]; /* the last complaint, so that it is told once */
  char agent[80];    /* where it was last looked for */
  bool linked;       /* to the agent */
  bool greeted;      /* it knows that the memcached is there */
  uint32_t epoch;    /* the highest of an agent seen */
  layout *layout;    /* NULL until the agent has welcomed */
  struct job *jobs;
  size_t jobs_bytes;
  kept_list list; /* being told */
  size_t told;    /* of it: chunks, then records */
} server;

/* server.c: connections to the agent and to memcached. */
void server_tick(server *s);
void server_link(server *s, uint16_t rank, bool up);
void server_message(server *s, uint16_t rank, const message *m);
/* memcached is gone, or was: tell the agent, drop the jobs. */
void server_lost_kept(server *s);
/* The answer to a request; with KEPT_GONE, server_lost_kept as well. */
void server_answer(server *s, uint64_t request, int status, const char *reason);
void server_answer_outcome(server *s, uint64_t request, const gfsmith_outcome *outcome);
void server_answer_kept(server *s, uint64_t request, kept_status status);

/* job.c: encode, fetch, repair. */
void job_begin(server *s, const message *m);
void job_cancel(server *s, uint64_t request);
/* All: their ends are not told to anybody. */
void job_drop_all(server *s);
/* Before the net is closed: their handles; after it, when nothing of them runs: themselves. */
void job_let_go(server *s);
void job_forget_all(server *s);

/* listing.c: MESSAGE_LIST. */
void listing_answer(server *s, const message *m);

#endif
