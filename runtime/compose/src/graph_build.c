#include "graph_build.h"

#include <stdlib.h>
#include <string.h>

/* The array, with space for one element after `count`. NULL: out of memory, and the array is
 * unchanged. The capacity is the next power of two. */
static void *more(void *array, unsigned count, size_t size) {
  if (count & (count - 1))
    return array;
  return realloc(array, (count ? 2 * (size_t)count : 1) * size);
}

static void fail(gfc_builder *builder, int status, const char *reason) {
  if (builder->status == GFSMITH_OK)
    builder->status = gfc_graph_fail(builder->reason, status, "%s", reason);
}

static void fail_memory(gfc_builder *builder) { fail(builder, GFSMITH_ENOMEM, "out of memory"); }

void gfc_sum_add(gfc_builder *builder, gfc_sum *into, unsigned input, uint8_t factor) {
  unsigned at = 0;
  while (at < into->count && into->term[at].input < input)
    at++;
  gfc_term *term = into->term + at;
  size_t after = (into->count - at) * sizeof *term;
  if (at == into->count || term->input != input) {
    if (into->count == GFC_TERMS_MAX) {
      fail(builder, GFSMITH_EUNSUPPORTED, "a sum has too many terms");
      return;
    }
    memmove(term + 1, term, after);
    *term = (gfc_term){(uint16_t)input, 0};
    into->count++;
    after += sizeof *term;
  }
  term->factor ^= factor;
  if (term->factor == 0) {
    memmove(term, term + 1, after - sizeof *term);
    into->count--;
  }
}

void gfc_sum_add_sum(gfc_builder *builder, gfc_sum *into, const gfc_sum *added, uint8_t factor) {
  for (unsigned n = 0; n < added->count; n++)
    gfc_sum_add(builder, into, added->term[n].input,
                gfc_multiply(builder->polynomial, factor, added->term[n].factor));
}

/* The part of a rank; an unknown rank gets a new one. NULL: out of memory. */
static gfc_part *part_of(gfc_builder *builder, uint16_t rank) {
  if (builder->place[rank])
    return builder->part + builder->place[rank] - 1;
  gfc_part *grown = more(builder->part, builder->parts, sizeof *grown);
  if (grown == NULL) {
    fail_memory(builder);
    return NULL;
  }
  builder->part = grown;
  builder->part[builder->parts] = (gfc_part){.rank = rank};
  builder->place[rank] = (uint16_t)++builder->parts;
  return builder->part + builder->parts - 1;
}

static bool same(const gfc_output *output, const gfc_sum *total) {
  for (unsigned n = 0; n < total->count && output->count == total->count; n++)
    if (output->term[n].input != total->term[n].input ||
        output->term[n].factor != total->term[n].factor)
      return false;
  return output->count == total->count;
}

/* The output of a part that equals this sum, or a new one; -1: out of memory. */
static int output_of(gfc_builder *builder, gfc_part *part, const gfc_sum *total) {
  for (unsigned n = 0; n < part->outputs; n++)
    if (same(part->output + n, total))
      return (int)n;
  gfc_output *grown = more(part->output, part->outputs, sizeof *grown);
  gfc_term *term = malloc(total->count * sizeof *term);
  if (grown != NULL)
    part->output = grown;
  if (grown == NULL || term == NULL) {
    free(term);
    fail_memory(builder);
    return -1;
  }
  memcpy(term, total->term, total->count * sizeof *term);
  part->output[part->outputs] = (gfc_output){total->count, term};
  return (int)part->outputs++;
}

/* The edge that carries this output of a part to a rank, or a new one; -1 on failure. */
static int edge_of(gfc_builder *builder, gfc_part *part, int output, uint16_t target) {
  for (unsigned n = 0; n < part->sends; n++)
    if (part->send[n].output == output && builder->edge[part->send[n].edge].target == target)
      return part->send[n].edge;
  if (builder->edges == GFSMITH_EDGES_MAX) {
    fail(builder, GFSMITH_EUNSUPPORTED,
         "this takes more than 4096 transfers, which are all that "
         "a graph may have");
    return -1;
  }
  gfc_edge *edge = more(builder->edge, builder->edges, sizeof *edge);
  if (edge != NULL)
    builder->edge = edge;
  gfc_sending *send = more(part->send, part->sends, sizeof *send);
  if (send != NULL)
    part->send = send;
  if (edge == NULL || send == NULL) {
    fail_memory(builder);
    return -1;
  }
  edge[builder->edges] = (gfc_edge){part->rank, target};
  send[part->sends++] = (gfc_sending){(uint16_t)output, (uint16_t)builder->edges};
  return (int)builder->edges++;
}

void gfc_bring(gfc_builder *builder, uint16_t source, uint16_t target, const gfc_sum *sum,
               uint8_t factor, gfc_sum *into) {
  if (builder->status != GFSMITH_OK || sum->count == 0)
    return;
  if (source == target) {
    gfc_sum_add_sum(builder, into, sum, factor);
    return;
  }
  gfc_part *part = part_of(builder, source);
  int output = part == NULL ? -1 : output_of(builder, part, sum);
  int edge = output < 0 ? -1 : edge_of(builder, part, output, target);
  if (edge >= 0)
    gfc_sum_add(builder, into, GFC_RECEIVED + (unsigned)edge, factor);
}

void gfc_keep_shard(gfc_builder *builder, uint16_t at, unsigned shard, const gfc_sum *total) {
  if (builder->status != GFSMITH_OK)
    return;
  if (total->count == 0) {
    builder->status = gfc_graph_fail(builder->reason, GFSMITH_EUNSUPPORTED,
                                     "shard %u is an empty sum: no rank can send it", shard);
    return;
  }
  gfc_part *part = part_of(builder, at);
  int output = part == NULL ? -1 : output_of(builder, part, total);
  if (output < 0)
    return;
  gfc_keep *keep = more(part->keep, part->keeps, sizeof *keep);
  if (keep != NULL)
    part->keep = keep;
  gfc_place *wanted = more(builder->wanted, builder->goals, sizeof *wanted);
  if (wanted != NULL)
    builder->wanted = wanted;
  if (keep == NULL || wanted == NULL) {
    fail_memory(builder);
    return;
  }
  keep[part->keeps++] = (gfc_keep){(uint16_t)output, (uint16_t)shard};
  wanted[builder->goals++] = (gfc_place){(uint16_t)shard, at};
}

/* Count the inputs of a part, and give each its column in the matrix. */
static void number_inputs(gfc_builder *builder, const gfc_part *part, gfc_vertex *vertex) {
  memset(builder->column, 0, sizeof builder->column);
  for (unsigned n = 0; n < part->outputs; n++)
    for (unsigned t = 0; t < part->output[n].count; t++)
      builder->column[part->output[n].term[t].input] = 1;
  uint16_t inputs = 0;
  for (unsigned input = 0; input < GFC_RECEIVED + builder->edges; input++)
    if (builder->column[input]) {
      builder->column[input] = ++inputs;
      *(input < GFC_RECEIVED ? &vertex->locals : &vertex->receives) += 1;
    }
}

/* The inputs and computed outputs of a primitive are the shards of one codec, whose number is
 * limited.
 */
static void check_size(gfc_builder *builder, const gfc_vertex *vertex) {
  unsigned inputs = gfc_inputs(vertex), size = inputs;
  for (unsigned n = 0; n < vertex->outputs; n++)
    size += gfc_unit(vertex->matrix + (size_t)n * inputs, inputs) < 0;
  if (size > GFSMITH_MAX_SHARDS && builder->status == GFSMITH_OK)
    builder->status = gfc_graph_fail(builder->reason, GFSMITH_EUNSUPPORTED,
                                     "rank %u would have %u inputs and sums, which are more than "
                                     "the %d of a primitive",
                                     vertex->rank, size, GFSMITH_MAX_SHARDS);
}

/* Fill in the vertex of a rank; the arrays of keeps and sends move from the part to the vertex. */
static bool finish_vertex(gfc_builder *builder, gfc_part *part, gfc_vertex *vertex) {
  number_inputs(builder, part, vertex);
  unsigned inputs = gfc_inputs(vertex);
  vertex->rank = part->rank;
  vertex->local = calloc(vertex->locals + 1u, sizeof *vertex->local);
  vertex->receive = calloc(vertex->receives + 1u, sizeof *vertex->receive);
  vertex->matrix = calloc(part->outputs, inputs);
  if (vertex->local == NULL || vertex->receive == NULL || vertex->matrix == NULL)
    return false;
  for (unsigned input = 0; input < GFC_RECEIVED + builder->edges; input++)
    if (builder->column[input]) {
      unsigned n = builder->column[input] - 1u;
      if (input < GFC_RECEIVED)
        vertex->local[n] = (uint16_t)input;
      else
        vertex->receive[n - vertex->locals] = (uint16_t)(input - GFC_RECEIVED);
    }
  for (unsigned n = 0; n < part->outputs; n++)
    for (unsigned t = 0; t < part->output[n].count; t++) {
      const gfc_term *term = part->output[n].term + t;
      vertex->matrix[n * inputs + builder->column[term->input] - 1u] = term->factor;
    }
  vertex->outputs = part->outputs;
  check_size(builder, vertex);
  vertex->keeps = part->keeps;
  vertex->sends = part->sends;
  vertex->keep = part->keep;
  vertex->send = part->send;
  part->keep = NULL;
  part->send = NULL;
  return true;
}

static bool finish_places(gfsmith_graph *graph) {
  for (unsigned v = 0; v < graph->vertices; v++)
    graph->places += graph->vertex[v].locals;
  graph->has = calloc(graph->places + 1u, sizeof *graph->has);
  if (graph->has == NULL)
    return false;
  gfc_place *place = graph->has;
  for (unsigned v = 0; v < graph->vertices; v++)
    for (unsigned n = 0; n < graph->vertex[v].locals; n++)
      *place++ = (gfc_place){graph->vertex[v].local[n], graph->vertex[v].rank};
  return true;
}

int gfc_build(gfc_builder *builder, gfsmith_graph *graph) {
  if (builder->status != GFSMITH_OK)
    return builder->status;
  graph->vertex = calloc(builder->parts + 1u, sizeof *graph->vertex);
  bool done = graph->vertex != NULL;
  for (unsigned rank = 0; rank < GFSMITH_RANKS_MAX && done; rank++)
    if (builder->place[rank])
      done = finish_vertex(builder, builder->part + builder->place[rank] - 1,
                           graph->vertex + graph->vertices++);
  if (!done || !finish_places(graph)) {
    fail_memory(builder);
    return builder->status;
  }
  graph->edges = builder->edges;
  graph->edge = builder->edge;
  graph->goals = builder->goals;
  graph->wanted = builder->wanted;
  builder->edge = NULL;
  builder->wanted = NULL;
  return builder->status;
}

void gfc_builder_clear(gfc_builder *builder) {
  for (unsigned p = 0; p < builder->parts; p++) {
    gfc_part *part = builder->part + p;
    for (unsigned n = 0; n < part->outputs; n++)
      free(part->output[n].term);
    free(part->output);
    free(part->keep);
    free(part->send);
  }
  free(builder->part);
  free(builder->edge);
  free(builder->wanted);
}
