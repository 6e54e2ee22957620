#include "graph_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned shards_of(const graph_case *run) { return run->k + run->m; }

static void *allocate(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (memory == NULL) {
    puts("out of memory");
    exit(1);
  }
  return memory;
}

/* Reads "scheme k l m length slice incoherent reader", the losses with commas or "-", holders with
 * commas or "-" for 0, 1, ... */
static bool read_case(graph_case *run, char *line) {
  char losses[512], holders[1024];
  unsigned incoherent;
  memset(run, 0, sizeof *run);
  if (sscanf(line, "%7s %u %u %u %zu %zu %u %d %511s %1023s", run->scheme, &run->k, &run->l,
             &run->m, &run->length, &run->slice, &incoherent, &run->reader, losses, holders) != 10)
    return false;
  run->incoherent = incoherent != 0;
  for (char *word = strtok(losses, ",-"); word != NULL; word = strtok(NULL, ",-"), run->losses++)
    run->lost[strtoul(word, NULL, 10)] = true;
  for (unsigned n = 0; n < GFSMITH_MAX_SHARDS; n++)
    run->holder[n] = (uint16_t)n;
  unsigned n = 0;
  for (char *word = strtok(holders, ",-"); word != NULL; word = strtok(NULL, ",-"))
    run->holder[n++] = (uint16_t)strtoul(word, NULL, 10);
  return true;
}

/* Fills the data with different bytes in each shard, and encodes them with the library. */
static bool fill(graph_case *run) {
  int status = run->l ? gfsmith_codec_create_lrc(&run->codec, run->k, run->l, run->m - run->l)
                      : gfsmith_codec_create(&run->codec, "cauchy", run->k, run->m);
  if (status != GFSMITH_OK)
    return false;
  uint64_t state = run->length + 977 * run->k + 1;
  for (unsigned i = 0; i < shards_of(run); i++) {
    run->stripe[i] = allocate(run->length);
    for (size_t at = 0; at < run->length; at++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      run->stripe[i][at] = (uint8_t)(state >> 56);
    }
  }
  return gfsmith_encode(run->codec, run->length, (const uint8_t *const *)run->stripe,
                        run->stripe + run->k) == GFSMITH_OK;
}

static bool lay_out(graph_case *run) {
  bool present[GFSMITH_MAX_SHARDS];
  uint16_t sink[GFSMITH_MAX_SHARDS];
  for (unsigned i = 0; i < shards_of(run); i++) {
    present[i] = !run->lost[i];
    sink[i] = (uint16_t)(run->reader < 0 ? run->holder[i] : run->reader);
  }
  gfsmith_graph_request request = {
      .scheme = run->scheme, .codec = run->codec, .k = run->k, .m = run->m, .holder = run->holder};
  request.source = (uint16_t)(run->reader < 0 ? 0 : run->reader);
  request.present = run->losses ? present : NULL;
  request.sink = run->losses && run->reader >= 0 ? sink : NULL;
  char reason[GFSMITH_REASON_MAX];
  if (gfsmith_graph_create(&run->graph, &request, reason) == GFSMITH_OK)
    return true;
  printf("no graph: %s\n", reason);
  return false;
}

/* Gives every rank its shards and buffers for those that it receives, filled with an old value that
 * reveals missing writes. The reader also gets buffers for all survivors, every second one with the
 * survivor. */
static void deal(graph_case *run) {
  const gfsmith_graph *graph = run->graph;
  for (unsigned n = 0; n < graph->places; n++) {
    unsigned shard = graph->has[n].shard, rank = graph->has[n].rank;
    run->shards[rank][shard] = allocate(run->length);
    memcpy(run->shards[rank][shard], run->stripe[shard], run->length);
  }
  for (unsigned n = 0; n < graph->goals; n++) {
    unsigned shard = graph->wanted[n].shard, rank = graph->wanted[n].rank;
    if (run->shards[rank][shard] != NULL)
      continue; /* the source keeps its shards */
    run->shards[rank][shard] = allocate(run->length);
    memset(run->shards[rank][shard], 0xee, run->length);
  }
  for (unsigned i = 0; i < shards_of(run) && run->reader >= 0; i += 2)
    if (run->shards[run->reader][i] == NULL) {
      run->shards[run->reader][i] = allocate(run->length);
      memset(run->shards[run->reader][i], 0xee, run->length);
    }
}

bool graph_case_right(const graph_case *run, unsigned rank) {
  const gfsmith_graph *graph = run->graph;
  for (unsigned n = 0; n < graph->goals; n++) {
    unsigned shard = graph->wanted[n].shard;
    if (graph->wanted[n].rank == rank &&
        memcmp(run->shards[rank][shard], run->stripe[shard], run->length) != 0) {
      printf("rank %u: shard %u is wrong\n", rank, shard);
      return false;
    }
  }
  for (unsigned n = 0; n < graph->places; n++) {
    unsigned shard = graph->has[n].shard;
    if (graph->has[n].rank == rank &&
        memcmp(run->shards[rank][shard], run->stripe[shard], run->length) != 0) {
      printf("rank %u: shard %u was overwritten\n", rank, shard);
      return false;
    }
  }
  return true;
}

bool graph_case_open(graph_case *run, char *line) {
  if (!read_case(run, line)) {
    puts("no case");
    return false;
  }
  if (!fill(run) || !lay_out(run))
    return false;
  deal(run);
  return true;
}

void graph_case_close(graph_case *run) {
  gfsmith_graph_destroy(run->graph);
  gfsmith_codec_destroy(run->codec);
  for (unsigned i = 0; i < GFSMITH_MAX_SHARDS; i++) {
    free(run->stripe[i]);
    for (unsigned rank = 0; rank < RANKS; rank++)
      free(run->shards[rank][i]);
  }
  memset(run, 0, sizeof *run);
}
