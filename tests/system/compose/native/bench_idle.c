/* For the benchmark's driver, linked with --wrap=gfsmith_graph_post and
 * --wrap=gfsmith_graph_incoherent: a library that writes its outputs to other memory and is
 * otherwise correct. The benchmark must detect it. */
#include <stdlib.h>

#include "gfsmith_compose.h"

enum { SHARDS = 5 }; /* shards of the graphs that the test runs */

static uint8_t *elsewhere[SHARDS];

/* Moves only outputs: the test repairs at a rank that holds no shards. */
static uint8_t *const *moved(const gfsmith_node *node, size_t length, uint8_t *const *shards) {
  if (gfsmith_node_rank(node) != SHARDS)
    return shards;
  for (unsigned j = 0; j < SHARDS; j++)
    if (shards[j] != NULL && elsewhere[j] == NULL)
      elsewhere[j] = malloc(length);
  return elsewhere;
}

int __real_gfsmith_graph_post(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                              unsigned deadline_ms, size_t length, size_t slice,
                              uint8_t *const *shards, const gfsmith_notice *notice);
int __wrap_gfsmith_graph_post(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                              unsigned deadline_ms, size_t length, size_t slice,
                              uint8_t *const *shards, const gfsmith_notice *notice);
int __real_gfsmith_graph_incoherent(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                                    unsigned deadline_ms, size_t length, size_t slice,
                                    uint8_t *const *shards, gfsmith_outcome *outcome);
int __wrap_gfsmith_graph_incoherent(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                                    unsigned deadline_ms, size_t length, size_t slice,
                                    uint8_t *const *shards, gfsmith_outcome *outcome);

int __wrap_gfsmith_graph_post(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                              unsigned deadline_ms, size_t length, size_t slice,
                              uint8_t *const *shards, const gfsmith_notice *notice) {
  return __real_gfsmith_graph_post(node, graph, job, deadline_ms, length, slice,
                                   moved(node, length, shards), notice);
}

int __wrap_gfsmith_graph_incoherent(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                                    unsigned deadline_ms, size_t length, size_t slice,
                                    uint8_t *const *shards, gfsmith_outcome *outcome) {
  return __real_gfsmith_graph_incoherent(node, graph, job, deadline_ms, length, slice,
                                         moved(node, length, shards), outcome);
}
