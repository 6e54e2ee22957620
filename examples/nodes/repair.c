/* Rebuild shard 2 of 4+2 over processes, one for each shard: `repair RANK` holds shard RANK.
 * docs/compose/guide.md has the commands. */
#include <gfsmith_compose.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 4, M = 2, N = K + M, LOST = 2, LENGTH = 1 << 20, SLICE = 1 << 16 };
enum { JOB = 1, PORT = 7400, DEADLINE_MS = 10000 };

/* The secret of all nodes. A real program reads it from a file that only its user can read. */
static const uint8_t key[] = "an example: use 32 random bytes";

static uint8_t stripe[N][LENGTH];

static int fail(const char *what, int status, const char *reason) {
  fprintf(stderr, "%s: %s: %s\n", what, gfsmith_compose_strerror(status), reason);
  return 1;
}

/* Every process makes the same stripe. A real one reads its own shard from a disk. */
static int make_stripe(const gfsmith_codec *codec, uint8_t *shards[N]) {
  for (int i = 0; i < N; i++)
    shards[i] = stripe[i];
  for (int i = 0; i < K; i++)
    for (int b = 0; b < LENGTH; b++)
      stripe[i][b] = (uint8_t)rand();
  return gfsmith_encode(codec, LENGTH, (const uint8_t *const *)shards, shards + K);
}

/* The graph is the same at all nodes: shard i is at rank i, and shard LOST returns to its rank. */
static int make_graph(gfsmith_graph **graph, const gfsmith_codec *codec, char *reason) {
  uint16_t holder[N];
  bool present[N];
  for (int i = 0; i < N; i++) {
    holder[i] = (uint16_t)i;
    present[i] = i != LOST;
  }
  const gfsmith_graph_request request = {
      .scheme = "ppr", .codec = codec, .k = K, .m = M, .holder = holder, .present = present};
  return gfsmith_graph_create(graph, &request, reason);
}

/* Listen, and connect to the nodes of lower ranks. */
static int make_node(gfsmith_node **node, uint16_t rank, char *reason) {
  gfsmith_node_options options;
  gfsmith_node_defaults(&options);
  options.rank = rank;
  options.port = (uint16_t)(PORT + rank);
  options.key = key;
  options.key_bytes = sizeof key;
  int status = gfsmith_node_create(node, &options, reason);
  for (uint16_t peer = 0; peer < rank && status == GFSMITH_OK; peer++)
    status = gfsmith_node_peer(*node, peer, "127.0.0.1", (uint16_t)(PORT + peer));
  return status;
}

/* Do the part of this rank, and wait for its end. */
static int take_part(gfsmith_node *node, const gfsmith_graph *graph, uint8_t *const shards[N]) {
  static uint8_t rebuilt[LENGTH];
  uint8_t *own[N];
  gfsmith_outcome outcome;
  memcpy(own, shards, sizeof own);
  own[LOST] = rebuilt;
  int status = gfsmith_graph_run(node, graph, NULL, JOB, DEADLINE_MS, LENGTH, SLICE, own, &outcome);
  if (status != GFSMITH_OK)
    return fail("graph", status, "not started");
  if (outcome.status != GFSMITH_OK)
    return fail("repair", outcome.status, outcome.reason);
  if (gfsmith_node_rank(node) == LOST)
    puts(memcmp(rebuilt, shards[LOST], LENGTH) == 0 ? "shard 2 is back" : "bytes differ");
  return 0;
}

int main(int argc, char **argv) {
  char reason[GFSMITH_REASON_MAX] = "";
  const char *text = argc == 2 ? argv[1] : "";
  uint16_t rank = strlen(text) == 1 ? (uint16_t)(text[0] - '0') : N; /* large for other signs */
  uint8_t *shards[N];
  gfsmith_codec *codec = NULL;
  gfsmith_graph *graph = NULL;
  gfsmith_node *node = NULL;
  if (rank >= N)
    return fail("usage: repair RANK", GFSMITH_EINVAL, "ranks are 0 to 5");
  int status = gfsmith_codec_create(&codec, "cauchy", K, M);
  if (status == GFSMITH_OK)
    status = make_stripe(codec, shards);
  if (status == GFSMITH_OK)
    status = make_graph(&graph, codec, reason);
  if (status != GFSMITH_OK)
    return fail("graph", status, reason);
  int failed = 0;
  if (gfsmith_graph_has(graph, rank)) { /* k shards suffice, so one rank has no part */
    status = make_node(&node, rank, reason);
    failed = status != GFSMITH_OK ? fail("node", status, reason) : take_part(node, graph, shards);
  }
  gfsmith_node_destroy(node);
  gfsmith_graph_destroy(graph);
  gfsmith_codec_destroy(codec);
  return failed;
}
