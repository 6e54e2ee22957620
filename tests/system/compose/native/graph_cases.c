/* Runs cases one after the other and checks each. */
#include <stdio.h>
#include <string.h>

#include "graph_case.h"

static bool check(const gfsmith_graph *graph, const graph_case *run) {
  unsigned rebuilt = 0;
  for (unsigned v = 0; v < graph->vertices; v++)
    if (!graph_case_right(run, graph->vertex[v].rank))
      return false;
  for (unsigned n = 0; n < graph->goals; n++) {
    bool last = run->losses == 0 || run->reader < 0 || (int)graph->wanted[n].rank == run->reader;
    rebuilt += last && (run->losses == 0 || run->lost[graph->wanted[n].shard]);
  }
  bool all = rebuilt == (run->losses ? run->losses : run->k + run->m);
  puts(all ? "ok" : "not every shard is at its goal");
  return all;
}

/* "rs" and "lrc" leave survivors at the reader, complete or untouched. */
static bool check_survivors(const graph_case *run) {
  bool gathers = strcmp(run->scheme, "rs") == 0 || strcmp(run->scheme, "lrc") == 0;
  for (unsigned n = 0; n < run->graph->places && run->losses && run->reader >= 0 && gathers; n++) {
    unsigned shard = run->graph->has[n].shard;
    const uint8_t *there = run->shards[run->reader][shard];
    if (there != NULL && memcmp(there, run->stripe[shard], run->length) != 0) {
      printf("the reader lacks survivor %u\n", shard);
      return false;
    }
  }
  return true;
}

int graph_cases(void) {
  static graph_case run;
  char line[2048];
  int failed = 0;
  uint64_t id = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    failed += !(graph_case_open(&run, line) && graph_run(&run, ++id) && check_survivors(&run) &&
                check(run.graph, &run));
    graph_case_close(&run);
    fflush(stdout);
  }
  return failed ? 1 : 0;
}
