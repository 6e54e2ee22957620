/* Graphs run over loopback, all ranks in this process: graph_loopback PROVIDER NODES. Composed
 * parts are posted and waited for; the incoherent variant, and each second composed run, have a
 * thread for each rank, which is to be cancelled. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_case.h"

#define DEADLINE_MS 120000u

static gfsmith_node *nodes[RANKS];
static unsigned count;

/* The part of one rank. */
typedef struct part {
  graph_case *run;
  uint64_t id;
  uint16_t rank;
  gfsmith_operation *operation;
  gfsmith_outcome outcome;
  int status;
  pthread_t thread;
  bool calls, returned;
} part;

static int start_nodes(const char *provider) {
  static const uint8_t key[GFSMITH_KEY_MIN] = {1};
  char reason[GFSMITH_REASON_MAX];
  for (unsigned n = 0; n < count; n++) {
    gfsmith_node_options options;
    gfsmith_node_defaults(&options);
    options.provider = provider;
    options.rank = (uint16_t)n;
    options.key = key;
    options.key_bytes = sizeof key;
    options.connect_ms = 30000;
    options.triggers = true; /* where the provider has them */
    if (gfsmith_node_create(nodes + n, &options, reason) != GFSMITH_OK) {
      printf("rank %u: %s\n", n, reason);
      return 1;
    }
  }
  for (unsigned n = 0; n < count; n++)
    for (unsigned peer = 0; peer < count; peer++)
      if (peer != n && gfsmith_node_peer(nodes[n], (uint16_t)peer, "127.0.0.1",
                                         gfsmith_node_port(nodes[peer])) != GFSMITH_OK)
        return 1;
  return 0;
}

/* The calls that wait end before their thread is cancelled. */
static void *call(void *argument) {
  part *own = argument;
  graph_case *run = own->run;
  pthread_cancel(pthread_self());
  own->status =
      run->incoherent
          ? gfsmith_graph_incoherent(nodes[own->rank], run->graph, own->id, DEADLINE_MS,
                                     run->length, run->slice, run->shards[own->rank], &own->outcome)
          : gfsmith_graph_run(nodes[own->rank], run->graph, NULL, own->id, DEADLINE_MS, run->length,
                              run->slice, run->shards[own->rank], &own->outcome);
  own->returned = true;
  return NULL;
}

static void begin(part *own) {
  graph_case *run = own->run;
  own->calls = run->incoherent || own->id % 2 == 0;
  if (own->calls) {
    if (pthread_create(&own->thread, NULL, call, own) != 0)
      abort();
    return;
  }
  const gfsmith_notice notice = {.operation = &own->operation};
  own->status = gfsmith_graph_post(nodes[own->rank], run->graph, own->id, DEADLINE_MS, run->length,
                                   run->slice, run->shards[own->rank], &notice);
}

static bool end(part *own) {
  if (own->calls) {
    pthread_join(own->thread, NULL);
    if (!own->returned)
      own->status = GFSMITH_ECANCELED;
  } else if (own->status == GFSMITH_OK &&
             !gfsmith_operation_wait(own->operation, 2 * DEADLINE_MS, &own->outcome))
    own->status = GFSMITH_ETIMEDOUT;
  gfsmith_operation_release(own->operation);
  if (own->status == GFSMITH_OK && own->outcome.status == GFSMITH_OK)
    return true;
  printf("rank %u: %d, %d with rank %d: %s; ", own->rank, own->status, own->outcome.status,
         own->outcome.rank, own->outcome.reason);
  return false;
}

/* The last part is posted first, so that some parts wait for others and others are waited for. */
bool graph_run(graph_case *run, uint64_t id) {
  static part parts[RANKS];
  unsigned posted = run->graph->vertices;
  bool good = true;
  for (unsigned v = posted; v-- > 0;) {
    parts[v] = (part){.run = run, .id = id, .rank = run->graph->vertex[v].rank};
    begin(parts + v);
  }
  for (unsigned v = 0; v < posted; v++)
    good = end(parts + v) && good;
  if (!good)
    puts("");
  return good;
}

/* Rank 1 takes part in a repair by another scheme, in which it sends the same edge to the same
 * peer. */
static int disagree(void) {
  static graph_case cases[2];
  static uint8_t shards[3][3][100];
  const uint16_t holder[] = {0, 1, 2};
  const bool present[] = {false, true, true};
  gfsmith_codec *codec;
  if (gfsmith_codec_create(&codec, "cauchy", 2, 1) != GFSMITH_OK)
    return 1;
  for (unsigned n = 0; n < 2; n++) {
    gfsmith_graph_request request = {.scheme = n ? "ppr" : "triec", .codec = codec, .k = 2, .m = 1};
    request.holder = holder;
    request.present = present;
    if (gfsmith_graph_create(&cases[n].graph, &request, NULL) != GFSMITH_OK)
      return 1;
    cases[n].length = 100;
    for (unsigned rank = 0; rank < 3; rank++)
      for (unsigned i = 0; i < 3; i++)
        cases[n].shards[rank][i] = shards[rank][i];
  }
  part parts[3];
  for (uint16_t rank = 0; rank < 3; rank++) {
    parts[rank] = (part){.run = cases + (rank == 1), .id = 7, .rank = rank};
    begin(parts + rank);
  }
  for (unsigned rank = 0; rank < 3; rank++)
    end(parts + rank);
  for (unsigned n = 0; n < 2; n++)
    gfsmith_graph_destroy(cases[n].graph);
  gfsmith_codec_destroy(codec);
  return 0;
}

int main(int arguments, char **argument) {
  if (arguments != 3 && (arguments != 4 || strcmp(argument[3], "disagree") != 0))
    return 2;
  count = (unsigned)strtoul(argument[2], NULL, 10);
  if (count > RANKS || start_nodes(argument[1]) != 0)
    return 2;
  int failed = arguments == 3 ? graph_cases() : disagree();
  for (unsigned n = 0; n < count; n++)
    gfsmith_node_destroy(nodes[n]);
  return failed;
}
