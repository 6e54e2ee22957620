/* One run of a graph against the core library's bytes: what a line on stdin asks for, the shards of
 * every rank, and whether the right ones are there afterwards. Who runs it is graph_run's affair
 * (graph_simulate.c, graph_loopback.c; graph_node.c has a rank by itself). */
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
  int reader;      /* -1: shards go to their holders; else this rank gets them, or is the source */
  uint16_t holder[GFSMITH_MAX_SHARDS];
  gfsmith_codec *codec;
  gfsmith_graph *graph;
  uint8_t *stripe[GFSMITH_MAX_SHARDS];        /* as the core library has it */
  uint8_t *shards[RANKS][GFSMITH_MAX_SHARDS]; /* of each rank; NULL: not its affair */
} graph_case;

/* The case of such a line (graph_case.c says how it is written), its graph, and all ranks' shards.
 * @return is there one? If not, it has said why on stdout */
bool graph_case_open(graph_case *run, char *line);
void graph_case_close(graph_case *run);
/* Has this rank what it is to have, and is what it had as it was? If not, it says so on stdout. */
bool graph_case_right(const graph_case *run, unsigned rank);

/* Run the graph on the shards, as job `id`. @return is it done? If not, it has said why on stdout.
 */
bool graph_run(graph_case *run, uint64_t id);

/* Cases from stdin until it ends, "ok" or what is wrong for each. */
int graph_cases(void);

#endif
