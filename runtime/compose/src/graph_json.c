/* A graph as JSON. This file defines the text; tests/system/compose compares it with another
 * writer. */
#include "graph.h"

/* The buffer for the text; bytes that do not fit are only counted. */
typedef struct writer {
  char *text;
  size_t size, used;
} writer;

static void put(writer *out, const char *words) {
  for (; *words; words++, out->used++)
    if (out->used < out->size)
      out->text[out->used] = *words;
}

static void put_number(writer *out, const char *before, unsigned value) {
  char digits[12], *first = digits + sizeof digits - 1;
  *first = 0;
  do
    *--first = (char)('0' + value % 10);
  while (value /= 10);
  put(out, before);
  put(out, first);
}

/* "," before every element of a list except the first. */
static const char *comma(unsigned n) { return n ? "," : ""; }

static void put_rows(writer *out, const char *name, const uint8_t *rows, unsigned count,
                     unsigned width) {
  put(out, name);
  for (unsigned n = 0; n < count; n++) {
    put(out, comma(n));
    for (unsigned i = 0; i < width; i++)
      put_number(out, i ? "," : "[", rows[n * width + i]);
    put(out, "]");
  }
  put(out, "]");
}

static void put_list(writer *out, const char *name, const uint16_t *list, unsigned count) {
  put(out, name);
  for (unsigned n = 0; n < count; n++)
    put_number(out, comma(n), list[n]);
  put(out, "]");
}

/* One element of a list of objects that have two numbers each. */
static void put_pair(writer *out, unsigned n, const char *first, unsigned a, const char *second,
                     unsigned b) {
  put(out, comma(n));
  put_number(out, first, a);
  put_number(out, second, b);
  put(out, "}");
}

static void put_places(writer *out, const char *name, const gfc_place *places, unsigned count) {
  put(out, name);
  for (unsigned n = 0; n < count; n++)
    put_pair(out, n, "{\"shard\":", places[n].shard, ",\"rank\":", places[n].rank);
  put(out, "]");
}

static void put_primitive(writer *out, const gfc_vertex *vertex) {
  static const char *const names[] = {
      [GFSMITH_FORWARD] = NULL, [GFSMITH_XOR] = "xor", [GFSMITH_EC] = "ec"};
  const char *words[] = {vertex->receives ? "recv" : NULL, names[gfc_graph_calculator(vertex)],
                         vertex->sends ? "send" : NULL};
  unsigned count = 0;
  put(out, ",\"primitive\":\"");
  for (unsigned n = 0; n < 3; n++)
    if (words[n] != NULL) {
      put(out, count++ ? "-" : "");
      put(out, words[n]);
    }
  put(out, count ? "\"" : "keep\"");
}

static void put_vertex(writer *out, const gfc_vertex *vertex) {
  put_number(out, "{\"rank\":", vertex->rank);
  put_primitive(out, vertex);
  put_list(out, ",\"locals\":[", vertex->local, vertex->locals);
  put_list(out, ",\"receives\":[", vertex->receive, vertex->receives);
  put_rows(out, ",\"matrix\":[", vertex->matrix, vertex->outputs, gfc_inputs(vertex));
  put(out, ",\"keeps\":[");
  for (unsigned n = 0; n < vertex->keeps; n++)
    put_pair(out, n, "{\"output\":", vertex->keep[n].output, ",\"shard\":", vertex->keep[n].shard);
  put(out, "],\"sends\":[");
  for (unsigned n = 0; n < vertex->sends; n++)
    put_pair(out, n, "{\"output\":", vertex->send[n].output, ",\"edge\":", vertex->send[n].edge);
  put(out, "]}");
}

size_t gfsmith_graph_json(const gfsmith_graph *graph, char *text, size_t size) {
  writer out = {text, size, 0};
  put(&out, "{\"scheme\":\"");
  put(&out, graph->scheme);
  put(&out, graph->encodes ? "\",\"does\":\"encode\"" : "\",\"does\":\"decode\"");
  put_number(&out, ",\"polynomial\":", graph->polynomial);
  put_number(&out, ",\"k\":", graph->k);
  put_number(&out, ",\"m\":", graph->m);
  put_rows(&out, ",\"parity\":[", graph->parity, graph->m, graph->k);
  put_places(&out, ",\"has\":[", graph->has, graph->places);
  put_places(&out, ",\"wanted\":[", graph->wanted, graph->goals);
  put(&out, ",\"edges\":[");
  for (unsigned e = 0; e < graph->edges; e++)
    put_pair(&out, e, "{\"from\":", graph->edge[e].source, ",\"to\":", graph->edge[e].target);
  put(&out, "],\"vertices\":[");
  for (unsigned v = 0; v < graph->vertices; v++) {
    put(&out, comma(v));
    put_vertex(&out, graph->vertex + v);
  }
  put(&out, "]}");
  if (size > 0)
    text[out.used < size ? out.used : size - 1] = 0;
  return out.used;
}
