#include "graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

uint8_t gfc_multiply(unsigned polynomial, uint8_t a, uint8_t b) {
  unsigned product = 0;
  for (unsigned bit = 0x80; bit; bit >>= 1) {
    product <<= 1;
    if (product & 0x100u)
      product ^= polynomial;
    if (b & bit)
      product ^= a;
  }
  return (uint8_t)product;
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
