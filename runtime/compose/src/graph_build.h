/* The builder of a graph: the sums of each rank become one vertex.
 *
 * A layout works with sums of inputs: gfc_bring carries a sum to another rank (or adds it in place
 * if source and target are the same), gfc_keep_shard ends a sum as a shard. Equal sums of a rank
 * are one output, and equal transfers are one edge. After the first error, which is stored in
 * `status`, these functions do nothing. */
#ifndef GFC_GRAPH_BUILD_H
#define GFC_GRAPH_BUILD_H

#include "graph.h"

#define GFC_TERMS_MAX 512u /* at most one term for each shard and for each rank that sends one */
#define GFC_RECEIVED 256u  /* inputs from this number on are edges; smaller numbers are shards */

typedef struct gfc_term {
  uint16_t input;
  uint8_t factor; /* not 0 */
} gfc_term;

typedef struct gfc_sum {
  unsigned count;
  gfc_term term[GFC_TERMS_MAX]; /* by input */
} gfc_sum;

typedef struct gfc_output {
  unsigned count;
  gfc_term *term;
} gfc_output;

/* The outputs of a rank so far. */
typedef struct gfc_part {
  uint16_t rank;
  unsigned outputs, keeps, sends;
  gfc_output *output;
  gfc_keep *keep;
  gfc_sending *send;
} gfc_part;

typedef struct gfc_builder {
  unsigned polynomial;
  int status;
  char reason[GFSMITH_REASON_MAX];
  unsigned edges, goals, parts;
  gfc_edge *edge;
  gfc_place *wanted;
  gfc_part *part;
  uint16_t place[GFSMITH_RANKS_MAX];                 /* of a rank in `part`, from 1; 0: none */
  uint16_t column[GFC_RECEIVED + GFSMITH_EDGES_MAX]; /* of an input in a vertex's matrix, from 1 */
} gfc_builder;

/* into += factor * input */
void gfc_sum_add(gfc_builder *builder, gfc_sum *into, unsigned input, uint8_t factor);
/* into += factor * added */
void gfc_sum_add_sum(gfc_builder *builder, gfc_sum *into, const gfc_sum *added, uint8_t factor);
/* The same if rank `source` has `sum` and `into` is a sum at rank `target`: adds a transfer. */
void gfc_bring(gfc_builder *builder, uint16_t source, uint16_t target, const gfc_sum *sum,
               uint8_t factor, gfc_sum *into);
/* Keep the sum `total` of rank `at` as a shard there. */
void gfc_keep_shard(gfc_builder *builder, uint16_t at, unsigned shard, const gfc_sum *total);
/* Move edges, vertices, and the lists of existing and wanted shards to the graph.
 * @return builder->status */
int gfc_build(gfc_builder *builder, gfsmith_graph *graph);
/* Free the memory of the builder. */
void gfc_builder_clear(gfc_builder *builder);

#endif
