/* Graphs run without a network: the primitives of this file execute their descriptors at once, byte
 * by byte, and an edge is a copy. The test covers gfsmith_graph_post. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_case.h"

struct gfsmith_node {
  uint16_t rank;
};

/* The bytes sent along each edge, with sender and receiver. */
typedef struct transfer {
  uint8_t *bytes;
  uint16_t source, target;
} transfer;

static transfer transfers[GFSMITH_EDGES_MAX];
static size_t bytes;

uint16_t gfsmith_node_rank(const gfsmith_node *node) { return node->rank; }

static int wrong(const char *what) {
  printf("descriptors: %s\n", what);
  return GFSMITH_EINVAL;
}

/* Collects the inputs: received ones as the descriptor states, or in order of arrival. */
static int gather(const gfsmith_node *node, const gfsmith_wait *wait, const gfsmith_memory *memory,
                  const uint8_t **input) {
  for (unsigned n = 0; n < memory->locals; n++)
    input[n] = memory->local[n];
  for (unsigned n = 0; wait != NULL && n < wait->count; n++) {
    transfer *from = transfers + wait->source[n].edge;
    if (from->bytes == NULL || from->target != node->rank || from->source != wait->source[n].rank)
      return wrong("an edge that was not sent");
    uint8_t *to = memory->received ? memory->received[n] : NULL;
    if (to != NULL && bytes)
      memcpy(to, from->bytes, bytes);
    input[memory->locals + n] = to ? to : from->bytes;
  }
  return GFSMITH_OK;
}

/* Computes output n of `inputs` inputs into `to`. */
static void compute(const gfsmith_calc *calc, unsigned n, const uint8_t *const *input,
                    unsigned inputs, uint8_t *to) {
  for (size_t at = 0; at < bytes; at++) {
    uint8_t sum = 0;
    for (unsigned j = 0; j < inputs; j++) {
      uint8_t factor = calc->calculator == GFSMITH_FORWARD ? j == n
                       : calc->calculator == GFSMITH_XOR   ? 1
                                                           : calc->matrix[n * inputs + j];
      sum ^= gfc_multiply(calc->polynomial, factor, input[j][at]);
    }
    to[at] = sum;
  }
}

static int send_output(const gfsmith_node *node, const gfsmith_target *target,
                       const uint8_t *output) {
  transfer *to = transfers + target->edge;
  if (to->bytes != NULL)
    return wrong("an edge that was sent before");
  to->bytes = malloc(bytes + 1);
  if (to->bytes == NULL)
    return GFSMITH_ENOMEM;
  memcpy(to->bytes, output, bytes);
  to->source = node->rank;
  to->target = target->rank;
  return GFSMITH_OK;
}

static int perform(gfsmith_node *node, const gfsmith_wait *wait, const gfsmith_calc *calc,
                   const gfsmith_memory *memory, const gfsmith_stripe *stripe) {
  const uint8_t *input[512];
  unsigned inputs = memory->locals + (wait ? wait->count : 0);
  int status = gather(node, wait, memory, input);
  if (calc->calculator == GFSMITH_XOR && calc->outputs != 1)
    return wrong("XOR has one output");
  if (calc->calculator == GFSMITH_FORWARD && calc->outputs != inputs)
    return wrong("FORWARD has an output for each input");
  if (calc->outputs < 1 || calc->outputs > 255)
    return wrong("no outputs, or too many");
  uint8_t *output = malloc(bytes + 1);
  for (unsigned n = 0; n < calc->outputs && status == GFSMITH_OK && output != NULL; n++) {
    compute(calc, n, input, inputs, output);
    if (memory->output != NULL && memory->output[n] != NULL && bytes)
      memcpy(memory->output[n], output, bytes);
    for (unsigned t = 0; stripe != NULL && t < stripe->count && status == GFSMITH_OK; t++)
      if (stripe->target[t].output == n)
        status = send_output(node, stripe->target + t, output);
  }
  free(output);
  return status;
}

int gfsmith_ec_send(gfsmith_node *node, const gfsmith_job *job, const gfsmith_calc *calc,
                    const gfsmith_memory *memory, const gfsmith_stripe *stripe,
                    const gfsmith_notice *notice) {
  (void)job, (void)notice;
  return stripe->count ? perform(node, NULL, calc, memory, stripe) : wrong("nothing is sent");
}

int gfsmith_recv_ec_send(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                         const gfsmith_calc *calc, const gfsmith_memory *memory,
                         const gfsmith_stripe *stripe, const gfsmith_notice *notice) {
  (void)job, (void)notice;
  return wait->count && stripe->count ? perform(node, wait, calc, memory, stripe)
                                      : wrong("nothing is received or sent");
}

int gfsmith_recv_ec(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                    const gfsmith_calc *calc, const gfsmith_memory *memory,
                    const gfsmith_notice *notice) {
  (void)job, (void)notice;
  return perform(node, wait, calc, memory, NULL);
}

int gfsmith_incoherent(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                       const gfsmith_calc *calc, const gfsmith_memory *memory,
                       const gfsmith_stripe *stripe, gfsmith_outcome *outcome) {
  (void)job;
  *outcome = (gfsmith_outcome){.rank = -1};
  return perform(node, wait, calc, memory, stripe);
}

/* Returns true if all inputs of this part have arrived. */
static bool ready(const gfc_vertex *vertex) {
  for (unsigned n = 0; n < vertex->receives; n++)
    if (transfers[vertex->receive[n]].bytes == NULL)
      return false;
  return true;
}

static int post(graph_case *run, uint64_t id, uint16_t rank) {
  gfsmith_node node = {rank};
  gfsmith_outcome outcome;
  if (run->incoherent)
    return gfsmith_graph_incoherent(&node, run->graph, id, 0, run->length, run->slice,
                                    run->shards[rank], &outcome);
  return gfsmith_graph_post(&node, run->graph, id, 0, run->length, run->slice, run->shards[rank],
                            NULL);
}

/* Posts that must be refused: by a rank without a part, without addresses, and without a needed
 * address. */
static bool refuses(const graph_case *run) {
  gfsmith_node node = {run->graph->vertex[0].rank}, outsider = {RANKS - 1};
  gfsmith_outcome outcome;
  uint8_t *none[GFSMITH_MAX_SHARDS] = {NULL};
  bool needs = run->graph->vertex[0].locals > 0;
  return gfsmith_graph_post(&outsider, run->graph, 1, 0, 1, 0, none, NULL) == GFSMITH_EINVAL &&
         gfsmith_graph_post(&node, run->graph, 1, 0, 1, 0, NULL, NULL) == GFSMITH_EINVAL &&
         gfsmith_graph_post(&node, NULL, 1, 0, 1, 0, none, NULL) == GFSMITH_EINVAL &&
         gfsmith_graph_post(NULL, run->graph, 1, 0, 1, 0, none, NULL) == GFSMITH_EINVAL &&
         gfsmith_graph_incoherent(&node, run->graph, 1, 0, 1, 0, none, NULL) == GFSMITH_EINVAL &&
         gfsmith_graph_incoherent(&node, NULL, 1, 0, 1, 0, none, &outcome) == GFSMITH_EINVAL &&
         (!needs ||
          gfsmith_graph_post(&node, run->graph, 1, 0, 1, 0, none, NULL) == GFSMITH_EINVAL);
}

bool graph_run(graph_case *run, uint64_t id) {
  bool posted[RANKS] = {false};
  int status = GFSMITH_OK;
  bytes = run->length;
  for (bool progress = true; progress && status == GFSMITH_OK;) {
    progress = false;
    for (unsigned v = 0; v < run->graph->vertices && status == GFSMITH_OK; v++) {
      const gfc_vertex *vertex = run->graph->vertex + v;
      if (posted[vertex->rank] || !ready(vertex))
        continue;
      status = post(run, id, vertex->rank);
      posted[vertex->rank] = progress = true;
    }
  }
  for (unsigned e = 0; e < run->graph->edges; e++) {
    if (transfers[e].bytes == NULL && status == GFSMITH_OK)
      status = wrong("an edge was never sent");
    free(transfers[e].bytes);
    transfers[e].bytes = NULL;
  }
  if (status == GFSMITH_OK && !refuses(run))
    status = wrong("posted an invalid graph");
  if (status != GFSMITH_OK)
    printf("status %d\n", status);
  return status == GFSMITH_OK;
}

int main(void) { return graph_cases(); }
