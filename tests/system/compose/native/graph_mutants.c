/* Graphs with one change. Each line has the verdict of gfsmith_graph_check, the change, and the
 * graph as JSON, with tabs between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static void say(const gfsmith_graph *graph, const char *kind) {
  char reason[GFSMITH_REASON_MAX] = "";
  int status = gfsmith_graph_check(graph, reason);
  size_t length = gfsmith_graph_json(graph, NULL, 0);
  char *text = malloc(length + 1);
  if (text == NULL)
    exit(1);
  gfsmith_graph_json(graph, text, length + 1);
  printf("%s%s\t%s\t%s\n", status == GFSMITH_OK ? "proved" : "refuted: ", reason, kind, text);
  free(text);
}

static void change_byte(const gfsmith_graph *graph, uint8_t *at, uint8_t to, const char *kind) {
  uint8_t kept = *at;
  *at = to;
  say(graph, kind);
  *at = kept;
}

static void change(const gfsmith_graph *graph, uint16_t *at, uint16_t to, const char *kind) {
  uint16_t kept = *at;
  if (kept == to)
    return;
  *at = to;
  say(graph, kind);
  *at = kept;
}

static void change_count(const gfsmith_graph *graph, unsigned *at, unsigned to, const char *kind) {
  unsigned kept = *at;
  if (kept == to)
    return;
  *at = to;
  say(graph, kind);
  *at = kept;
}

static void change_vertex(gfsmith_graph *graph, gfc_vertex *vertex) {
  for (unsigned n = 0; n < vertex->outputs * gfc_inputs(vertex); n++) {
    change_byte(graph, vertex->matrix + n, vertex->matrix[n] ^ 1, "factor");
    change_byte(graph, vertex->matrix + n, vertex->matrix[n] ^ 0x80, "factor");
  }
  for (unsigned n = 0; n < vertex->sends; n++) {
    change(graph, &vertex->send[n].edge, (uint16_t)((vertex->send[n].edge + 1u) % graph->edges),
           "sent");
    change(graph, &vertex->send[n].edge, (uint16_t)graph->edges, "sent");
    change(graph, &vertex->send[n].output, (uint16_t)vertex->outputs, "sent");
  }
  for (unsigned n = 0; n < vertex->keeps; n++) {
    change(graph, &vertex->keep[n].shard, vertex->keep[n].shard ^ 1, "kept");
    change(graph, &vertex->keep[n].output, (uint16_t)vertex->outputs, "kept");
  }
  for (unsigned n = 0; n < vertex->locals; n++) {
    change(graph, vertex->local + n, (uint16_t)(vertex->local[n] + 1), "local");
    change(graph, vertex->local + n, 300, "local");
  }
  for (unsigned n = 0; n < vertex->receives; n++) {
    change(graph, vertex->receive + n, (uint16_t)((vertex->receive[n] + 1u) % graph->edges),
           "sent");
    change(graph, vertex->receive + n, (uint16_t)graph->edges, "sent");
  }
  change(graph, &vertex->rank, GFSMITH_RANKS_MAX, "vertex");
  change_count(graph, &vertex->outputs, 0, "vertex");
  change_count(graph, &vertex->keeps, 0, "kept");
  change_count(graph, &vertex->sends, 0, "sent");
}

/* Prints the graph with each two neighbours among its vertices exchanged. */
static void exchange(gfsmith_graph *graph) {
  for (unsigned v = 1; v < graph->vertices; v++) {
    gfc_vertex kept = graph->vertex[v];
    graph->vertex[v] = graph->vertex[v - 1];
    graph->vertex[v - 1] = kept;
    say(graph, "order");
    graph->vertex[v - 1] = graph->vertex[v];
    graph->vertex[v] = kept;
  }
}

/* Prints the graph without each of its vertices in turn, from the first to the last. */
static void leave_out(gfsmith_graph *graph) {
  for (unsigned v = 0; v < graph->vertices; v++) {
    gfc_vertex kept = graph->vertex[v];
    size_t after = (graph->vertices - v - 1) * sizeof kept;
    memmove(graph->vertex + v, graph->vertex + v + 1, after);
    graph->vertices--;
    say(graph, "vertex");
    memmove(graph->vertex + v + 1, graph->vertex + v, after);
    graph->vertex[v] = kept;
    graph->vertices++;
  }
}

/* Adds an edge back: the first rank receives the values that the edge's target now sends, and adds
 * them. */
static void lead_back(gfsmith_graph *graph, unsigned e) {
  gfc_vertex *from = NULL, *to = NULL;
  for (unsigned v = 0; v < graph->vertices; v++) {
    if (graph->vertex[v].rank == graph->edge[e].target)
      from = graph->vertex + v;
    if (graph->vertex[v].rank == graph->edge[e].source)
      to = graph->vertex + v;
  }
  if (from == NULL || to == NULL || to->receives > 0 || from->keeps == 0)
    return;
  gfc_vertex kept_from = *from, kept_to = *to;
  gfc_edge *kept_edge = graph->edge;
  uint16_t back[] = {(uint16_t)graph->edges};
  gfc_sending send[64];
  uint8_t matrix[4096] = {0};
  unsigned width = to->locals;
  for (unsigned n = 0; n < from->sends; n++)
    send[n] = from->send[n];
  send[from->sends] = (gfc_sending){from->keep[0].output, back[0]};
  from->send = send;
  from->sends++;
  for (unsigned n = 0; n < to->outputs; n++)
    memcpy(matrix + n * (width + 1), to->matrix + n * width, width);
  to->receive = back;
  to->receives = 1;
  to->matrix = matrix;
  graph->edge = malloc((graph->edges + 1) * sizeof *graph->edge);
  if (graph->edge == NULL)
    exit(1);
  memcpy(graph->edge, kept_edge, graph->edges * sizeof *graph->edge);
  graph->edge[graph->edges++] = (gfc_edge){from->rank, to->rank};
  say(graph, "cycle");
  graph->edges--;
  free(graph->edge);
  graph->edge = kept_edge;
  *from = kept_from;
  *to = kept_to;
}

static void mutate(gfsmith_graph *graph) {
  say(graph, "whole");
  for (unsigned v = 0; v < graph->vertices; v++)
    change_vertex(graph, graph->vertex + v);
  for (unsigned e = 0; e < graph->edges; e++) {
    gfc_edge *edge = graph->edge + e;
    change(graph, &edge->target, (uint16_t)((edge->target + 1) % 9), "edge");
    change(graph, &edge->source, (uint16_t)((edge->source + 1) % 9), "edge");
    gfc_edge kept = *edge;
    *edge = (gfc_edge){kept.target, kept.source};
    say(graph, "turned");
    *edge = kept;
    lead_back(graph, e);
  }
  for (unsigned g = 0; g < graph->goals; g++) {
    change(graph, &graph->wanted[g].shard, graph->wanted[g].shard ^ 1, "goal");
    change(graph, &graph->wanted[g].rank, 1000, "goal");
  }
  for (unsigned p = 0; p < graph->places; p++) {
    gfc_place kept = graph->has[p];
    change(graph, &graph->has[p].rank, 1000, "place");
    change(graph, &graph->has[p].rank, GFSMITH_RANKS_MAX, "place");
    graph->has[p] = graph->has[(p + 1) % graph->places];
    say(graph, "place");
    graph->has[p] = kept;
  }
  change_count(graph, &graph->goals, graph->goals - 1, "goal");
  change_count(graph, &graph->goals, 0, "goal");
  exchange(graph);
  for (unsigned n = 0; n < graph->m * graph->k; n++)
    if (!graph->encodes)
      change_byte(graph, graph->parity + n, graph->parity[n] ^ 1, "parity");
  leave_out(graph);
}

static int make(const char *scheme, const gfsmith_codec *codec, bool encode) {
  const uint16_t holder[] = {0, 1, 2, 3, 4, 5, 6};
  /* With m losses the code has no spare equation, so every parity counts. */
  const bool present[] = {false, true, true, true, false, true, false};
  gfsmith_graph_request request = {scheme, codec, 4, 3, 0, holder, NULL, NULL, NULL, 8};
  if (!encode)
    request.present = present;
  gfsmith_graph *graph;
  char reason[GFSMITH_REASON_MAX];
  if (gfsmith_graph_create(&graph, &request, reason) != GFSMITH_OK) {
    fprintf(stderr, "%s: %s\n", scheme, reason);
    return 1;
  }
  mutate(graph);
  gfsmith_graph_destroy(graph);
  return 0;
}

int main(void) {
  gfsmith_codec *codec;
  if (gfsmith_codec_create(&codec, "cauchy", 4, 3) != GFSMITH_OK)
    return 1;
  int failed = make("rs", codec, false) + make("ppr", codec, false) + make("ecpipe", codec, false) +
               make("triec", codec, false) + make("rs", codec, true) + make("triec", codec, true);
  gfsmith_codec_destroy(codec);
  return failed;
}
