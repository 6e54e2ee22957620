/* From sums and transfers to a graph: generator/gfsmith/graph/build.py in C. After something went
 * wrong (status), the functions do nothing more. */
#ifndef GFC_GRAPH_BUILD_H
#define GFC_GRAPH_BUILD_H

#include "graph.h"

#define GFC_TERMS_MAX 512u /* a term for each shard, and for each rank that sends one, at most */
#define GFC_RECEIVED 256u  /* inputs from here on are edges, below they are shards */

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

/* What is known of a rank so far. */
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
/* into += factor * what */
void gfc_sum_add_sum(gfc_builder *builder, gfc_sum *into, const gfc_sum *what, uint8_t factor);
/* The same, where `what` is known at rank `source` and `into` is a sum at rank `target`. */
void gfc_bring(gfc_builder *builder, uint16_t source, uint16_t target, const gfc_sum *what,
               uint8_t factor, gfc_sum *into);
/* The sum, at this rank, is a shard to be kept there. */
void gfc_keep_shard(gfc_builder *builder, uint16_t at, unsigned shard, const gfc_sum *total);
/* Edges, vertices, what is there and what is wanted go to the graph. @return builder->status */
int gfc_build(gfc_builder *builder, gfsmith_graph *graph);
/* Free what the builder holds. */
void gfc_builder_clear(gfc_builder *builder);

#endif
