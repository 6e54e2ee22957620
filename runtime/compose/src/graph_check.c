/* The proof of a graph: it is acyclic, every transfer is sent and received, and every sink computes
 * exactly the wanted shards, for all data.
 *
 * Every input, output and transfer is a linear form in the k data shards: k coefficients over
 * GF(2^8). An existing shard has its row of the generator matrix [I; P] as its form; the form of an
 * output is its row times the forms of the inputs. Two linear forms that differ have different
 * values for some data, so an output is shard s for all data if and only if its form is row s. This
 * module is independent of the layouts, the builder and the planner. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* The state of one check. */
typedef struct gfc_check {
  const gfsmith_graph *graph;
  char *reason;
  uint8_t *form;    /* of each edge: k elements */
  uint8_t *scratch; /* k elements */
  unsigned *waits;  /* transfers for which each vertex still waits */
  uint8_t *seen;    /* of each goal: has it been kept? */
} gfc_check;

static bool has_place(const gfc_place *places, unsigned count, unsigned shard, unsigned rank) {
  for (unsigned n = 0; n < count; n++)
    if (places[n].shard == shard && places[n].rank == rank)
      return true;
  return false;
}

static int check_places(const gfc_check *check, const gfc_place *places, unsigned count,
                        const char *name) {
  const gfsmith_graph *graph = check->graph;
  for (unsigned n = 0; n < count; n++) {
    unsigned shard = places[n].shard, rank = places[n].rank;
    if (shard >= graph->k + graph->m || rank >= GFSMITH_RANKS_MAX)
      return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "shard %u at rank %u cannot be %s",
                            shard, rank, name);
    if (has_place(places, n, shard, rank))
      return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "a shard is %s at the same rank twice",
                            name);
  }
  return GFSMITH_OK;
}

static int check_code(const gfc_check *check) {
  const gfsmith_graph *graph = check->graph;
  int status = check_places(check, graph->has, graph->places, "there");
  if (status == GFSMITH_OK)
    status = check_places(check, graph->wanted, graph->goals, "wanted");
  if (status == GFSMITH_OK && graph->goals == 0)
    status = gfc_graph_fail(check->reason, GFSMITH_EINVAL, "no shard is wanted");
  for (unsigned n = 0; n < graph->places && status == GFSMITH_OK; n++) {
    unsigned shard = graph->has[n].shard;
    if (graph->encodes && shard >= graph->k)
      return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "an encoding begins with data only");
    for (unsigned g = 0; g < graph->goals && !graph->encodes; g++)
      if (graph->wanted[g].shard == shard)
        return gfc_graph_fail(check->reason, GFSMITH_EINVAL,
                              "shard %u is to be rebuilt and is present", shard);
  }
  return status;
}

/* Is this output sent or kept? */
static bool is_used(const gfc_vertex *vertex, unsigned output) {
  for (unsigned n = 0; n < vertex->keeps; n++)
    if (vertex->keep[n].output == output)
      return true;
  for (unsigned n = 0; n < vertex->sends; n++)
    if (vertex->send[n].output == output)
      return true;
  return false;
}

static bool outputs_are_used(const gfc_vertex *vertex) {
  for (unsigned n = 0; n < vertex->keeps; n++)
    if (vertex->keep[n].output >= vertex->outputs)
      return false;
  for (unsigned n = 0; n < vertex->sends; n++)
    if (vertex->send[n].output >= vertex->outputs)
      return false;
  for (unsigned n = 0; n < vertex->outputs; n++)
    if (!is_used(vertex, n))
      return false;
  return true;
}

static int check_vertex(const gfc_check *check, unsigned index) {
  const gfc_vertex *vertex = check->graph->vertex + index;
  unsigned rank = vertex->rank;
  if (rank >= GFSMITH_RANKS_MAX || (index > 0 && vertex[-1].rank >= rank))
    return gfc_graph_fail(check->reason, GFSMITH_EINVAL,
                          "rank %u is out of range or has two vertices", rank);
  if (gfc_inputs(vertex) == 0 || vertex->outputs == 0)
    return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "rank %u has no inputs or no outputs",
                          rank);
  for (unsigned n = 0; n < vertex->locals; n++) {
    if (!has_place(check->graph->has, check->graph->places, vertex->local[n], rank))
      return gfc_graph_fail(check->reason, GFSMITH_EINVAL,
                            "rank %u computes with shard %u, which it does not have", rank,
                            vertex->local[n]);
    if (n > 0 && vertex->local[n] <= vertex->local[n - 1])
      return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "rank %u: a shard is an input twice",
                            rank);
  }
  if (!outputs_are_used(vertex))
    return gfc_graph_fail(check->reason, GFSMITH_EINVAL,
                          "rank %u: an output is neither kept nor sent, or one is that does not "
                          "exist",
                          rank);
  return GFSMITH_OK;
}

/* Every edge is sent once by its source, and received once by its target. */
static int check_transfers(const gfc_check *check) {
  const gfsmith_graph *graph = check->graph;
  for (unsigned e = 0; e < graph->edges; e++)
    if (graph->edge[e].source == graph->edge[e].target)
      return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "edge %u goes from rank %u to itself", e,
                            graph->edge[e].source);
  unsigned sent = 0, received = 0;
  uint8_t was_sent[GFSMITH_EDGES_MAX] = {0}, was_received[GFSMITH_EDGES_MAX] = {0};
  for (unsigned v = 0; v < graph->vertices; v++) {
    const gfc_vertex *vertex = graph->vertex + v;
    for (unsigned n = 0; n < vertex->sends; n++) {
      unsigned e = vertex->send[n].edge;
      if (e >= graph->edges || graph->edge[e].source != vertex->rank || was_sent[e]++)
        return gfc_graph_fail(check->reason, GFSMITH_EINVAL,
                              "rank %u sends along edge %u, which is not there, not its own, or "
                              "taken",
                              vertex->rank, e);
      sent++;
    }
    for (unsigned n = 0; n < vertex->receives; n++) {
      unsigned e = vertex->receive[n];
      if (e >= graph->edges || graph->edge[e].target != vertex->rank || was_received[e]++)
        return gfc_graph_fail(check->reason, GFSMITH_EINVAL,
                              "rank %u receives along edge %u, which is not there, not its own, or "
                              "taken",
                              vertex->rank, e);
      received++;
    }
  }
  if (sent != graph->edges || received != graph->edges)
    return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "an edge is not sent, or not received");
  return GFSMITH_OK;
}

/* into += factor * the form of input n of a vertex */
static void add_input(const gfc_check *check, const gfc_vertex *vertex, unsigned n, uint8_t factor,
                      uint8_t *into) {
  const gfsmith_graph *graph = check->graph;
  unsigned k = graph->k;
  if (n < vertex->locals && vertex->local[n] < k) {
    into[vertex->local[n]] ^= factor;
    return;
  }
  const uint8_t *form = n < vertex->locals
                            ? graph->parity + (size_t)(vertex->local[n] - k) * k
                            : check->form + (size_t)vertex->receive[n - vertex->locals] * k;
  for (unsigned j = 0; j < k; j++)
    into[j] ^= gfc_multiply(graph->polynomial, factor, form[j]);
}

static void output_form(const gfc_check *check, const gfc_vertex *vertex, unsigned output,
                        uint8_t *into) {
  unsigned inputs = gfc_inputs(vertex);
  memset(into, 0, check->graph->k);
  for (unsigned n = 0; n < inputs; n++)
    if (vertex->matrix[output * inputs + n])
      add_input(check, vertex, n, vertex->matrix[output * inputs + n], into);
}

static bool is_shard(const gfsmith_graph *graph, const uint8_t *form, unsigned shard) {
  if (shard >= graph->k)
    return memcmp(form, graph->parity + (size_t)(shard - graph->k) * graph->k, graph->k) == 0;
  for (unsigned j = 0; j < graph->k; j++)
    if (form[j] != (j == shard))
      return false;
  return true;
}

static int check_keep(const gfc_check *check, const gfc_vertex *vertex, const gfc_keep *keep) {
  const gfsmith_graph *graph = check->graph;
  unsigned goal = 0;
  while (goal < graph->goals &&
         (graph->wanted[goal].shard != keep->shard || graph->wanted[goal].rank != vertex->rank))
    goal++;
  if (goal == graph->goals || check->seen[goal]++)
    return gfc_graph_fail(check->reason, GFSMITH_EINVAL,
                          "rank %u keeps shard %u, which is not wanted there, or twice",
                          vertex->rank, keep->shard);
  output_form(check, vertex, keep->output, check->scratch);
  if (!is_shard(graph, check->scratch, keep->shard))
    return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "rank %u keeps a wrong value as shard %u",
                          vertex->rank, keep->shard);
  return GFSMITH_OK;
}

/* Compute the forms of the transfers that a vertex sends, and check the shards that it keeps. The
 * forms of its received inputs are known. */
static int check_sums(const gfc_check *check, const gfc_vertex *vertex) {
  for (unsigned n = 0; n < vertex->sends; n++) {
    unsigned edge = vertex->send[n].edge;
    output_form(check, vertex, vertex->send[n].output,
                check->form + (size_t)edge * check->graph->k);
    check->waits[gfc_graph_vertex(check->graph, check->graph->edge[edge].target) -
                 check->graph->vertex]--;
  }
  int status = GFSMITH_OK;
  for (unsigned n = 0; n < vertex->keeps && status == GFSMITH_OK; n++)
    status = check_keep(check, vertex, vertex->keep + n);
  return status;
}

/* Check vertex after vertex, each when the forms of all its received inputs are known. */
static int check_order(const gfc_check *check) {
  const gfsmith_graph *graph = check->graph;
  const unsigned done = GFSMITH_EDGES_MAX + 1; /* more than the transfers of any vertex */
  unsigned left = graph->vertices;
  for (unsigned v = 0; v < graph->vertices; v++)
    check->waits[v] = graph->vertex[v].receives;
  for (bool progress = true; left && progress;) {
    progress = false;
    for (unsigned v = 0; v < graph->vertices; v++) {
      if (check->waits[v] != 0)
        continue;
      check->waits[v] = done;
      int status = check_sums(check, graph->vertex + v);
      if (status != GFSMITH_OK)
        return status;
      progress = true;
      left--;
    }
  }
  for (unsigned v = 0; v < graph->vertices && left; v++)
    if (check->waits[v] != done)
      return gfc_graph_fail(check->reason, GFSMITH_EINVAL,
                            "a cycle: rank %u waits for a result of its own sends, or follows "
                            "such a rank",
                            graph->vertex[v].rank);
  for (unsigned g = 0; g < graph->goals; g++)
    if (!check->seen[g])
      return gfc_graph_fail(check->reason, GFSMITH_EINVAL, "rank %u does not get shard %u",
                            graph->wanted[g].rank, graph->wanted[g].shard);
  return GFSMITH_OK;
}

static int check_all(const gfc_check *check) {
  int status = check_code(check);
  for (unsigned v = 0; v < check->graph->vertices && status == GFSMITH_OK; v++)
    status = check_vertex(check, v);
  if (status == GFSMITH_OK)
    status = check_transfers(check);
  return status == GFSMITH_OK ? check_order(check) : status;
}

int gfsmith_graph_check(const gfsmith_graph *graph, char *reason) {
  if (graph == NULL)
    return gfc_graph_fail(reason, GFSMITH_EINVAL, "the graph is NULL");
  gfc_check check = {.graph = graph, .reason = reason};
  check.form = calloc(graph->edges + 1u, graph->k);
  check.scratch = calloc(graph->k, 1);
  check.waits = calloc(graph->vertices + 1u, sizeof *check.waits);
  check.seen = calloc(graph->goals + 1u, 1);
  int status = check.form && check.scratch && check.waits && check.seen
                   ? check_all(&check)
                   : gfc_graph_fail(reason, GFSMITH_ENOMEM, "out of memory");
  free(check.form);
  free(check.scratch);
  free(check.waits);
  free(check.seen);
  return status;
}
