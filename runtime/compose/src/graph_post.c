/* The vertex of a node, posted as one of the three primitives. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* The descriptors of a vertex under construction. */
typedef struct posting {
  const gfsmith_graph *graph;
  const gfc_vertex *vertex;
  uint8_t *const *shards;
  bool empty; /* shards of length 0 need no address */
  const uint8_t **local;
  uint8_t **received;
  uint8_t **output;    /* the address at which each row is kept, or NULL */
  const uint8_t **row; /* the `rows` rows that are computed */
  unsigned rows;
  unsigned *place; /* the row of each output of the vertex */
  uint8_t *matrix;
  gfsmith_source *source;
  gfsmith_target *target;
  gfsmith_calculator calculator;
} posting;

static const uint8_t *matrix_row(const gfc_vertex *vertex, unsigned output) {
  return vertex->matrix + (size_t)output * gfc_inputs(vertex);
}

/* The shard that an edge carries unchanged, or -1. */
static int shard_of_edge(const gfsmith_graph *graph, unsigned edge) {
  const gfc_vertex *vertex = gfc_graph_vertex(graph, graph->edge[edge].source);
  for (unsigned n = 0; n < vertex->sends; n++) {
    if (vertex->send[n].edge != edge)
      continue;
    int input = gfc_unit(matrix_row(vertex, vertex->send[n].output), gfc_inputs(vertex));
    return input >= 0 && (unsigned)input < vertex->locals ? vertex->local[input] : -1;
  }
  return -1;
}

static bool inputs_of(posting *made) {
  const gfc_vertex *vertex = made->vertex;
  for (unsigned n = 0; n < vertex->locals; n++) {
    made->local[n] = made->shards[vertex->local[n]];
    if (made->local[n] == NULL && !made->empty)
      return false;
  }
  for (unsigned n = 0; n < vertex->receives; n++) {
    unsigned edge = vertex->receive[n];
    int shard = shard_of_edge(made->graph, edge);
    made->source[n] = (gfsmith_source){made->graph->edge[edge].source, (uint16_t)edge};
    made->received[n] = shard < 0 ? NULL : made->shards[shard];
  }
  return true;
}

/* Can an output be at `address` without a copy, because it is an input at that address, or an input
 * that can be received there? */
static bool is_in_place(posting *made, unsigned output, uint8_t *address) {
  const gfc_vertex *vertex = made->vertex;
  int input = gfc_unit(matrix_row(vertex, output), gfc_inputs(vertex));
  if (input < 0)
    return false;
  if ((unsigned)input < vertex->locals)
    return made->local[input] == address;
  uint8_t **received = made->received + ((unsigned)input - vertex->locals);
  if (*received == NULL)
    *received = address;
  return *received == address;
}

static void add_row(posting *made, unsigned output, uint8_t *address) {
  made->row[made->rows] = matrix_row(made->vertex, output);
  made->output[made->rows++] = address;
}

/* Collect the rows that are kept at another address than their inputs, and the rows that are sent.
 */
static bool outputs_of(posting *made) {
  const gfc_vertex *vertex = made->vertex;
  unsigned none = vertex->outputs + vertex->keeps;
  for (unsigned n = 0; n < vertex->outputs; n++)
    made->place[n] = none;
  for (unsigned n = 0; n < vertex->keeps; n++) {
    uint8_t *address = made->shards[vertex->keep[n].shard];
    if (address == NULL && !made->empty)
      return false;
    if (is_in_place(made, vertex->keep[n].output, address))
      continue;
    made->place[vertex->keep[n].output] = made->rows;
    add_row(made, vertex->keep[n].output, address);
  }
  bool copies = made->rows > 0;
  made->calculator = gfc_graph_calculator(vertex);
  if (made->calculator == GFSMITH_FORWARD && copies)
    made->calculator = GFSMITH_EC;
  if (made->calculator == GFSMITH_XOR && made->rows > 1)
    made->calculator = GFSMITH_EC;
  for (unsigned n = 0; n < vertex->sends; n++) {
    unsigned output = vertex->send[n].output, edge = vertex->send[n].edge;
    if (made->place[output] == none) {
      made->place[output] = made->rows;
      add_row(made, output, NULL);
    }
    made->target[n] =
        (gfsmith_target){made->graph->edge[edge].target, (uint16_t)edge, made->place[output]};
  }
  return true;
}

/* With GFSMITH_FORWARD the outputs are the inputs themselves, and only shards that are in place are
 * kept. */
static void forward(posting *made) {
  unsigned inputs = gfc_inputs(made->vertex);
  for (unsigned n = 0; n < made->vertex->sends; n++)
    made->target[n].output = (unsigned)gfc_unit(made->row[made->target[n].output], inputs);
  made->rows = inputs;
}

static bool allocate(posting *made) {
  const gfc_vertex *vertex = made->vertex;
  unsigned inputs = gfc_inputs(vertex), rows = vertex->outputs + vertex->keeps;
  made->local = calloc(vertex->locals + 1u, sizeof *made->local);
  made->received = calloc(vertex->receives + 1u, sizeof *made->received);
  made->output = calloc(rows + 1u, sizeof *made->output);
  made->row = calloc(rows + 1u, sizeof *made->row);
  made->place = calloc(rows + 1u, sizeof *made->place);
  made->matrix = calloc(rows, inputs);
  made->source = calloc(vertex->receives + 1u, sizeof *made->source);
  made->target = calloc(vertex->sends + 1u, sizeof *made->target);
  return made->local && made->received && made->output && made->row && made->place &&
         made->matrix && made->source && made->target;
}

static void release(posting *made) {
  free(made->local);
  free(made->received);
  free(made->output);
  free(made->row);
  free(made->place);
  free(made->matrix);
  free(made->source);
  free(made->target);
}

static int prepare(posting *made) {
  if (!allocate(made))
    return GFSMITH_ENOMEM;
  if (!inputs_of(made) || !outputs_of(made))
    return GFSMITH_EINVAL;
  unsigned inputs = gfc_inputs(made->vertex);
  for (unsigned n = 0; n < made->rows; n++)
    memcpy(made->matrix + (size_t)n * inputs, made->row[n], inputs);
  if (made->calculator == GFSMITH_FORWARD)
    forward(made);
  return GFSMITH_OK;
}

/* The receiver of the outcome: a notice, or an outcome for the incoherent baseline. */
typedef struct telling {
  const gfsmith_notice *notice;
  gfsmith_outcome *outcome;
} telling;

static int call(gfsmith_node *node, const posting *made, const gfsmith_job *job, size_t length,
                size_t slice, const telling *how) {
  const gfc_vertex *vertex = made->vertex;
  const gfsmith_calc calc = {made->calculator, made->graph->polynomial, made->rows, made->matrix};
  const bool keeps = made->calculator != GFSMITH_FORWARD;
  const gfsmith_memory memory = {length,      slice,          vertex->locals,
                                 made->local, made->received, keeps ? made->output : NULL};
  const gfsmith_wait wait = {vertex->receives, made->source};
  const gfsmith_stripe stripe = {vertex->sends, made->target};
  if (how->outcome != NULL)
    return gfsmith_incoherent(node, job, &wait, &calc, &memory, &stripe, how->outcome);
  if (vertex->sends == 0)
    return gfsmith_recv_ec(node, job, &wait, &calc, &memory, how->notice);
  if (vertex->receives == 0)
    return gfsmith_ec_send(node, job, &calc, &memory, &stripe, how->notice);
  return gfsmith_recv_ec_send(node, job, &wait, &calc, &memory, &stripe, how->notice);
}

static int post(gfsmith_node *node, const gfsmith_graph *graph, const gfsmith_job *job,
                size_t length, size_t slice, uint8_t *const *shards, const telling *how) {
  posting made = {.graph = graph, .shards = shards, .empty = length == 0};
  made.vertex = gfc_graph_vertex(graph, gfsmith_node_rank(node));
  if (made.vertex == NULL || shards == NULL)
    return GFSMITH_EINVAL;
  int status = prepare(&made);
  if (status == GFSMITH_OK)
    status = call(node, &made, job, length, slice, how);
  release(&made);
  return status;
}

int gfsmith_graph_post(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                       unsigned deadline_ms, size_t length, size_t slice, uint8_t *const *shards,
                       const gfsmith_notice *notice) {
  if (node == NULL || graph == NULL)
    return GFSMITH_EINVAL;
  const gfsmith_job run = {job, graph->hash, deadline_ms};
  const telling how = {.notice = notice};
  return post(node, graph, &run, length, slice, shards, &how);
}

int gfsmith_graph_incoherent(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                             unsigned deadline_ms, size_t length, size_t slice,
                             uint8_t *const *shards, gfsmith_outcome *outcome) {
  if (node == NULL || graph == NULL || outcome == NULL)
    return GFSMITH_EINVAL;
  const gfsmith_job run = {job, graph->hash, deadline_ms};
  const telling how = {.outcome = outcome};
  return post(node, graph, &run, length, slice, shards, &how);
}
