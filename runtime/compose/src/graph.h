/* The data model of a graph: vertices, edges, and simple functions on them. Every array is
 * allocated separately.
 *
 * A dynamic EC graph (INEC, section III-D) is a directed acyclic graph. Its vertices are nodes and
 * its edges are transfers of one shard's length each. A vertex has inputs (the local shards of its
 * node, then the received ones) and a matrix with a row for each output:
 *
 *     output[i] = sum over j of matrix[i][j] * input[j]    in GF(2^8), byte by byte
 *
 * An output is sent, kept as a shard, or both. A node, identified by its rank, has at most one
 * vertex, which computes when all its received inputs have arrived.
 *
 * The other graph modules depend on this one and never the other way: graph_build (sums to
 * vertices), graph_layouts (the schemes), graph_check (the proof), graph_json (the text),
 * graph_create (all of these in order), graph_hash (a created graph and its hash, which needs
 * libsodium), graph_post (a vertex as a primitive). All but the last two need only the core
 * library: the command `gfsmith graph` uses them. */
#ifndef GFC_GRAPH_H
#define GFC_GRAPH_H

#include "gfsmith_compose.h"

typedef struct gfc_place {
  uint16_t shard;
  uint16_t rank;
} gfc_place;

typedef struct gfc_edge {
  uint16_t source; /* ranks */
  uint16_t target;
} gfc_edge;

typedef struct gfc_keep {
  uint16_t output;
  uint16_t shard;
} gfc_keep;

typedef struct gfc_sending {
  uint16_t output;
  uint16_t edge;
} gfc_sending;

/* The part of one rank. */
typedef struct gfc_vertex {
  uint16_t rank;
  unsigned locals, receives, outputs, keeps, sends;
  uint16_t *local;   /* shards, ascending */
  uint16_t *receive; /* edges, ascending */
  uint8_t *matrix;   /* outputs x (locals + receives) */
  gfc_keep *keep;
  gfc_sending *send;
} gfc_vertex;

struct gfsmith_graph {
  const char *scheme;
  bool encodes;
  unsigned polynomial, k, m;
  uint8_t *parity; /* m x k */
  unsigned places, goals, edges, vertices;
  gfc_place *has;    /* `places` of them: the existing shards that are used */
  gfc_place *wanted; /* `goals` of them */
  gfc_edge *edge;
  gfc_vertex *vertex; /* by rank */
  uint64_t hash;
};

static inline unsigned gfc_inputs(const gfc_vertex *vertex) {
  return vertex->locals + vertex->receives;
}

/* The vertex of a rank, or NULL. */
const gfc_vertex *gfc_graph_vertex(const gfsmith_graph *graph, uint16_t rank);

/* The input that a row passes on unchanged (the row has a single 1 and zeros), or -1. */
int gfc_unit(const uint8_t *row, unsigned inputs);

/* The calculator according to the vertex rule of section III-D: GFSMITH_FORWARD if outputs are
 * inputs, GFSMITH_XOR for one output that is the sum of all inputs, else GFSMITH_EC. */
gfsmith_calculator gfc_graph_calculator(const gfc_vertex *vertex);

/* The product in GF(2)[x] / polynomial. */
uint8_t gfc_multiply(unsigned polynomial, uint8_t a, uint8_t b);

/* Write the formatted reason to `reason`, which may be NULL. @return status */
__attribute__((format(printf, 3, 4))) int gfc_graph_fail(char *reason, int status,
                                                         const char *format, ...);

#endif
