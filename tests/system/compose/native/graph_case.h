/* One run of a graph compared with the core library's bytes: a case from a line on stdin, the
 * shards of every rank, and the check of the shards afterwards. graph_run executes it
 * (graph_simulate.c, graph_loopback.c; graph_node.c has a single rank). */
#ifndef GRAPH_CASE_H
#define GRAPH_CASE_H

#include "graph.h"

#define RANKS 40

typedef struct graph_case {
  char scheme[8];
  unsigned k, l, m; /* l = 0: cauchy; else a local code with l of its m parities local */
  size_t length, slice;
  bool incoherent;
  bool lost[GFSMITH_MAX_SHARDS];
  unsigned losses; /* 0: encode */
  /* -1: each shard goes to its holder; else this rank receives the shards, or is the source */
  int reader;
  uint16_t holder[GFSMITH_MAX_SHARDS];
  gfsmith_codec *codec;
  gfsmith_graph *graph;
  uint8_t *stripe[GFSMITH_MAX_SHARDS]; /* as the core library encodes it */
  /* of each rank; NULL: the rank does not take part in the shard */
  uint8_t *shards[RANKS][GFSMITH_MAX_SHARDS];
} graph_case;

/* Reads a case from a line (graph_case.c has the format) and prepares its graph and all ranks'
 * shards. @return false if there is no graph; the reason is then on stdout */
bool graph_case_open(graph_case *run, char *line);
void graph_case_close(graph_case *run);
/* Returns true if this rank has the expected shards and its inputs are unchanged; otherwise prints
 * the difference. */
bool graph_case_right(const graph_case *run, unsigned rank);

/* Runs the graph on the shards, as job `id`. @return false on failure; the reason is then on
 * stdout. */
bool graph_run(graph_case *run, uint64_t id);

/* Runs cases from stdin until it ends; prints "ok" or the error for each. */
int graph_cases(void);

#endif
