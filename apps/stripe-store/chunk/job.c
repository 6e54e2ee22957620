#include "job.h"

#include "common/answer.h"
#include "common/fault.h"
#include "common/table.h"

#include <stdio.h>
#include <stdlib.h>

/* One posted operation: this chunk server's part of an encoding, a read or a rebuild. */
typedef struct job {
  server *server;
  uint64_t request, version;
  message_type type;
  unsigned shard;
  bool keep;     /* store the received shard */
  bool dropped;  /* the result is not needed any more */
  size_t length; /* bytes of a chunk */
  uint8_t *item; /* ITEM_HEADER bytes, then the chunk; NULL: there is no local shard */
  gfsmith_operation *operation;
  struct event *timer;
  UT_hash_handle hh;
} job;

static void end(job *j) {
  if (TABLE_HAS(j, hh))
    HASH_DEL(j->server->jobs, j);
  j->server->jobs_bytes -= j->length;
  gfsmith_operation_release(j->operation);
  if (j->timer != NULL)
    event_free(j->timer);
  free(j->item);
  free(j);
}

/* Report the failure. The operation itself ends later, when no peer can access its memory any more;
 * the agent does not wait for that. */
static void give_up(job *j, int status, const char *reason) {
  if (!j->dropped)
    server_answer(j->server, j->request, status, reason);
  j->dropped = true;
  gfsmith_operation_cancel(j->operation);
}

static void on_deadline(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  give_up(owner, GFSMITH_ETIMEDOUT, "the deadline has passed");
}

/* False: the system has no memory. */
static bool start_timer(job *j, unsigned ms) {
  const struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};
  j->timer = evtimer_new(j->server->base, on_deadline, j);
  return j->timer != NULL && event_add(j->timer, &limit) == 0;
}

static job *find(const server *s, uint64_t request) {
  job *j;
  HASH_FIND(hh, s->jobs, &request, sizeof request, j);
  return j;
}

void job_cancel(server *s, uint64_t request) {
  job *j = find(s, request);
  if (j != NULL)
    give_up(j, GFSMITH_ECANCELED, "canceled");
}

void job_drop_all(server *s) {
  for (job *j = s->jobs; j != NULL; j = j->hh.next) {
    j->dropped = true;
    gfsmith_operation_cancel(j->operation);
  }
}

void job_let_go(server *s) {
  for (job *j = s->jobs; j != NULL; j = j->hh.next) {
    gfsmith_operation_release(j->operation);
    j->operation = NULL;
  }
}

void job_forget_all(server *s) {
  while (s->jobs != NULL)
    end(s->jobs);
}

static bool rebuilds(message_type type) { return type == MESSAGE_REPAIR || type == MESSAGE_GATHER; }

/* The points at which a test stops the process. */
enum { COMMAND, LOADED, RECEIVED, STORED, OVER, POINTS };

static const char *point(const job *j, unsigned when) {
  static const char *const names[][POINTS] = {
      {"write.command", "write.loaded", "write.received", "write.stored", "write.over"},
      {"read.command", "read.loaded", "read.received", "read.stored", "read.over"},
      {"repair.command", "repair.loaded", "repair.received", "repair.stored", "repair.over"},
      {"rebuild.command", "rebuild.loaded", "rebuild.received", "rebuild.stored", "rebuild.over"},
  };
  if (rebuilds(j->type))
    return names[j->keep ? 3 : 2][when];
  return names[j->type == MESSAGE_ENCODE ? 0 : 1][when];
}

static void on_stored(void *owner, const kept_ticket *ticket, kept_status status) {
  server *s = owner;
  (void)fault_point(ticket->point);
  job *j = find(s, ticket->request);
  bool answered = j->dropped;
  end(j);
  if (!answered)
    server_answer_kept(s, ticket->request, status);
}

static void keep(job *j) {
  (void)fault_point(point(j, RECEIVED));
  kept_put_chunk(j->server->kept, j->version, j->shard, j->item, j->length, rebuilds(j->type),
                 (kept_ticket){on_stored, j->request, point(j, STORED)});
}

static void over(void *owner, const gfsmith_outcome *outcome) {
  job *j = owner;
  if (!j->dropped && outcome->status == GFSMITH_OK && j->keep) {
    keep(j);
    return;
  }
  if (!j->dropped) {
    (void)fault_point(point(j, OVER));
    server_answer_outcome(j->server, j->request, outcome);
  }
  end(j);
}

/* The graph, if it equals the agent's. */
static const gfsmith_graph *graph_of(server *s, const message *m, char *reason) {
  layout_rebuild rebuild = {m->present, m->wanted, m->turn, m->sink, m->type == MESSAGE_GATHER};
  const gfsmith_graph *graph;
  if (m->type == MESSAGE_ENCODE)
    graph = layout_encode(s->layout, m->turn, reason);
  else if (layout_repair(s->layout, &rebuild, &graph, reason) != GFSMITH_OK)
    return NULL;
  if (graph != NULL && gfsmith_graph_hash(graph) != m->hash) {
    snprintf(reason, GFSMITH_REASON_MAX, "it has another matrix or graph: the hashes differ");
    return NULL;
  }
  return graph;
}

static int post_fetch(job *j, const message *m, const gfsmith_notice *notice) {
  const uint8_t *const local[] = {j->item + ITEM_HEADER};
  const gfsmith_job ours = {m->request, m->hash, m->deadline_ms};
  const gfsmith_calc forward = {.calculator = GFSMITH_FORWARD, .outputs = 1};
  const gfsmith_memory memory = {
      .length = j->length, .slice = m->slice, .locals = 1, .local = local};
  const gfsmith_target target = {LAYOUT_AGENT, (uint16_t)j->shard, 0};
  const gfsmith_stripe stripe = {1, &target};
  return gfsmith_ec_send(net_node(j->server->net), &ours, &forward, &memory, &stripe, notice);
}

static int post(job *j, const message *m, char *reason) {
  uint8_t *shards[LAYOUT_SHARDS_MAX] = {NULL};
  server *s = j->server;
  const gfsmith_graph *graph = NULL;
  if (m->type != MESSAGE_FETCH && (graph = graph_of(s, m, reason)) == NULL)
    return GFSMITH_EMISMATCH;
  gfsmith_notice notice;
  if (!net_notice(s->net, &notice, over, j, &j->operation))
    return GFSMITH_ENOMEM;
  shards[j->shard] = j->item == NULL ? NULL : j->item + ITEM_HEADER;
  int status = m->type == MESSAGE_FETCH
                   ? post_fetch(j, m, &notice)
                   : gfsmith_graph_post(net_node(s->net), graph, m->request, m->deadline_ms,
                                        j->length, m->slice, shards, &notice);
  if (status != GFSMITH_OK) {
    net_drop(&notice);
    snprintf(reason, GFSMITH_REASON_MAX, "%s", gfsmith_compose_strerror(status));
  }
  return status;
}

/* Find the memory from which the shard is read. KEPT_OK also if no shard is read. */
static kept_status find_item(job *j, const message *m) {
  if (j->keep || (rebuilds(m->type) && !(m->present >> j->shard & 1)))
    return KEPT_OK;
  return kept_get_chunk(j->server->kept, j->version, j->shard, &j->item, j->length);
}

static const char *senseless(const server *s, const message *m) {
  if (s->layout == NULL)
    return "it has not received the layout";
  if (m->length > CHUNK_MAX)
    return "a chunk that is too long";
  if (m->length > JOBS_MEMORY - s->jobs_bytes)
    return "too many bytes are in transit";
  if (m->turn >= layout_shards(s->layout))
    return "a turn that is out of range";
  if (find(s, m->request) != NULL)
    return "a number that another request has";
  return NULL;
}

/* A job with its timer, and with memory for the shard if it is received. NULL: the system has no
 * memory. */
static job *new_job(server *s, const message *m) {
  job *j = calloc(1, sizeof *j);
  if (j == NULL)
    return NULL;
  j->server = s;
  j->request = m->request;
  j->version = m->version;
  j->type = m->type;
  j->length = m->length;
  j->shard = layout_shard(s->layout, m->turn, s->rank);
  j->keep = m->type == MESSAGE_ENCODE ||
            (rebuilds(m->type) && m->wanted >> j->shard & 1 && m->sink == s->rank);
  if (j->keep)
    j->item = aligned_alloc(64, (ITEM_HEADER + j->length + 63) / 64 * 64);
  HASH_ADD(hh, s->jobs, request, sizeof j->request, j);
  s->jobs_bytes += j->length;
  if (!TABLE_HAS(j, hh) || (j->keep && j->item == NULL) || !start_timer(j, m->deadline_ms)) {
    end(j);
    return NULL;
  }
  return j;
}

void job_begin(server *s, const message *m) {
  char reason[GFSMITH_REASON_MAX] = "";
  const char *refusal = senseless(s, m);
  job *j = refusal == NULL ? new_job(s, m) : NULL;
  if (j == NULL) {
    server_answer(s, m->request, ANSWER_REFUSED, refusal != NULL ? refusal : "it has no memory");
    return;
  }
  (void)fault_point(point(j, COMMAND));
  kept_status found = find_item(j, m);
  if (found != KEPT_OK) {
    end(j);
    server_answer_kept(s, m->request, found);
    return;
  }
  (void)fault_point(point(j, LOADED));
  int status = post(j, m, reason);
  if (status != GFSMITH_OK) {
    end(j);
    server_answer(s, m->request, status, reason);
  }
}
