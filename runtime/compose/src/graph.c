#include "graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "gfsmith_plan.h"
#include "graph_layouts.h"

int gfc_graph_fail(char *reason, int status, const char *format, ...) {
  if (reason != NULL) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, GFSMITH_REASON_MAX, format, arguments);
    va_end(arguments);
  }
  return status;
}

int gfc_unit(const uint8_t *row, unsigned inputs) {
  int found = -1;
  for (unsigned n = 0; n < inputs; n++) {
    if (row[n] == 0)
      continue;
    if (row[n] != 1 || found >= 0)
      return -1;
    found = (int)n;
  }
  return found;
}

gfsmith_calculator gfc_graph_calculator(const gfc_vertex *vertex) {
  unsigned inputs = gfc_inputs(vertex), units = 0, ones = 0;
  for (unsigned n = 0; n < vertex->outputs; n++)
    units += gfc_unit(vertex->matrix + n * inputs, inputs) >= 0;
  if (units == vertex->outputs)
    return GFSMITH_FORWARD;
  for (unsigned n = 0; n < inputs; n++)
    ones += vertex->matrix[n] == 1;
  return vertex->outputs == 1 && ones == inputs ? GFSMITH_XOR : GFSMITH_EC;
}

const gfc_vertex *gfc_graph_vertex(const gfsmith_graph *graph, uint16_t rank) {
  for (unsigned v = 0; v < graph->vertices; v++)
    if (graph->vertex[v].rank == rank)
      return graph->vertex + v;
  return NULL;
}

bool gfsmith_graph_has(const gfsmith_graph *graph, uint16_t rank) {
  return graph != NULL && gfc_graph_vertex(graph, rank) != NULL;
}

uint64_t gfsmith_graph_hash(const gfsmith_graph *graph) { return graph ? graph->hash : 0; }

void gfsmith_graph_destroy(gfsmith_graph *graph) {
  if (graph == NULL)
    return;
  for (unsigned v = 0; v < graph->vertices; v++) {
    gfc_vertex *vertex = graph->vertex + v;
    free(vertex->local);
    free(vertex->receive);
    free(vertex->matrix);
    free(vertex->keep);
    free(vertex->send);
  }
  free(graph->vertex);
  free(graph->parity);
  free(graph->has);
  free(graph->wanted);
  free(graph->edge);
  free(graph);
}

static int check_ranks(const uint16_t *ranks, unsigned count, const char *name, char *reason) {
  for (unsigned n = 0; n < count; n++)
    if (ranks[n] >= GFSMITH_RANKS_MAX)
      return gfc_graph_fail(reason, GFSMITH_EINVAL, "%s %u is rank %u; allowed: 0..%d", name, n,
                            ranks[n], GFSMITH_RANKS_MAX - 1);
  return GFSMITH_OK;
}

static int check_request(const gfsmith_graph_request *request, const gfc_layout *layout,
                         char *reason) {
  if (layout == NULL)
    return gfc_graph_fail(reason, GFSMITH_EINVAL,
                          "the scheme is unknown; allowed: rs, lrc, ppr, ecpipe, triec");
  if (request->codec == NULL || request->holder == NULL)
    return gfc_graph_fail(reason, GFSMITH_EINVAL, "codec or holder is NULL");
  if (request->k < 1 || request->m < 1 || request->k > GFSMITH_MAX_SHARDS ||
      request->k + request->m > GFSMITH_MAX_SHARDS)
    return gfc_graph_fail(reason, GFSMITH_EINVAL,
                          "k = %u, m = %u; allowed: from 1, together up to %d", request->k,
                          request->m, GFSMITH_MAX_SHARDS);
  if (request->present == NULL && layout->encode == NULL)
    return gfc_graph_fail(reason, GFSMITH_EUNSUPPORTED,
                          "%s repairs only; allowed for encoding: rs, lrc, triec", layout->name);
  unsigned shards = request->k + request->m;
  int status = check_ranks(request->holder, shards, "the holder of shard", reason);
  if (status == GFSMITH_OK && request->present == NULL)
    status = check_ranks(&request->source, 1, "source", reason);
  if (status == GFSMITH_OK && request->present != NULL && request->sink != NULL)
    status = check_ranks(request->sink, shards, "the sink of shard", reason);
  return status;
}

/* The graph with its code. */
static int begin(const gfsmith_graph_request *request, const gfc_layout *layout,
                 gfsmith_graph *graph, char *reason) {
  graph->scheme = layout->name;
  graph->encodes = request->present == NULL;
  graph->polynomial = request->polynomial ? request->polynomial : GFSMITH_POLYNOMIAL;
  graph->k = request->k;
  graph->m = request->m;
  graph->parity = calloc(request->m, request->k);
  if (graph->parity == NULL)
    return gfc_graph_fail(reason, GFSMITH_ENOMEM, "out of memory");
  return gfc_graph_code(request->codec, graph->polynomial, graph->k, graph->m, graph->parity,
                        reason);
}

/* Lay out an encoding, or a repair by this plan. */
static int lay_out(const gfsmith_graph_request *request, const gfc_layout *layout,
                   const gfsmith_plan *plan, gfsmith_graph *graph, char *reason) {
  gfc_builder *builder = calloc(1, sizeof *builder);
  gfc_layout_job job = {.builder = builder, .k = graph->k, .m = graph->m, .parity = graph->parity};
  job.sum = calloc(graph->k + graph->m + 1u, sizeof *job.sum);
  int status = GFSMITH_ENOMEM;
  if (builder != NULL && job.sum != NULL) {
    job.holder = request->holder;
    job.source = request->source;
    job.read = gfsmith_plan_reads(plan, &job.reads);
    job.target = gfsmith_plan_targets(plan, &job.targets);
    job.matrix = gfsmith_plan_matrix(plan);
    job.sink = request->sink ? request->sink : request->holder;
    builder->polynomial = graph->polynomial;
    (graph->encodes ? layout->encode : layout->decode)(&job);
    status = gfc_build(builder, graph);
  }
  if (status != GFSMITH_OK)
    gfc_graph_fail(reason, status, "%s",
                   builder && builder->status ? builder->reason : "out of memory");
  if (builder != NULL)
    gfc_builder_clear(builder);
  free(builder);
  free(job.sum);
  return status;
}

static int plan_of(gfsmith_plan **plan, const gfsmith_graph_request *request, char *reason) {
  if (request->present == NULL)
    return GFSMITH_OK;
  gfsmith_status status =
      gfsmith_plan_create(plan, request->codec, request->present, request->wanted);
  if (status != GFSMITH_OK)
    return gfc_graph_fail(reason, status, "%s", gfsmith_strerror(status));
  unsigned targets;
  gfsmith_plan_targets(*plan, &targets);
  if (targets == 0)
    return gfc_graph_fail(reason, GFSMITH_EINVAL,
                          "no missing shard is wanted: there is nothing to rebuild");
  return GFSMITH_OK;
}

/* What was laid out is checked; what a layout does wrong is that a rank waits for itself. */
static int finish(gfsmith_graph *graph, char *reason) {
  char words[GFSMITH_REASON_MAX];
  int status = gfsmith_graph_check(graph, words);
  if (status == GFSMITH_OK)
    status = gfc_graph_digest(graph, &graph->hash);
  if (status == GFSMITH_EINVAL)
    return gfc_graph_fail(reason, GFSMITH_EUNSUPPORTED,
                          "%.150s; %s needs a sink or source that holds no shard here", words,
                          graph->scheme);
  return status == GFSMITH_OK ? status : gfc_graph_fail(reason, status, "out of memory");
}

int gfsmith_graph_create(gfsmith_graph **out, const gfsmith_graph_request *request, char *reason) {
  if (out == NULL || request == NULL)
    return gfc_graph_fail(reason, GFSMITH_EINVAL, "out or request is NULL");
  *out = NULL;
  const gfc_layout *layout = gfc_layout_find(request->scheme);
  int status = check_request(request, layout, reason);
  if (status != GFSMITH_OK)
    return status;
  gfsmith_graph *graph = calloc(1, sizeof *graph);
  gfsmith_plan *plan = NULL;
  if (graph == NULL)
    return gfc_graph_fail(reason, GFSMITH_ENOMEM, "out of memory");
  status = begin(request, layout, graph, reason);
  if (status == GFSMITH_OK)
    status = plan_of(&plan, request, reason);
  if (status == GFSMITH_OK)
    status = lay_out(request, layout, plan, graph, reason);
  if (status == GFSMITH_OK)
    status = finish(graph, reason);
  gfsmith_plan_destroy(plan);
  if (status == GFSMITH_OK)
    *out = graph;
  else
    gfsmith_graph_destroy(graph);
  return status;
}
