/* A graph: what generator/gfsmith/graph/types.py says of it, in C. Every array is its own block of
 * memory. */
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

/* A rank's part: output[i] = sum over j of matrix[i][j] * input[j], the inputs being the local
 * shards and then what is received. */
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
  gfc_place *has;    /* `places` of them: the shards that are there and used */
  gfc_place *wanted; /* `goals` of them */
  gfc_edge *edge;
  gfc_vertex *vertex; /* by rank */
  uint64_t hash;
};

static inline unsigned gfc_inputs(const gfc_vertex *vertex) {
  return vertex->locals + vertex->receives;
}

/* The part of a rank, or NULL. */
const gfc_vertex *gfc_graph_vertex(const gfsmith_graph *graph, uint16_t rank);

/* The input that a row passes on unchanged, or -1: it has a single 1 and zeros. */
int gfc_unit(const uint8_t *row, unsigned inputs);

/* What the vertex rule of section III-D picks: GFSMITH_FORWARD where outputs are inputs,
 * GFSMITH_XOR for one output that is the sum of all inputs, else GFSMITH_EC. */
gfsmith_calculator gfc_graph_calculator(const gfc_vertex *vertex);

/* A product in GF(2)[x] / polynomial. */
uint8_t gfc_multiply(unsigned polynomial, uint8_t a, uint8_t b);

/* The m x k parity matrix of a codec, by what it encodes. @return as gfsmith_graph_create, with the
 * reason */
int gfc_graph_code(const gfsmith_codec *codec, unsigned polynomial, unsigned k, unsigned m,
                   uint8_t *parity, char *reason);

/* The hash of gfsmith_graph_hash, computed. @return GFSMITH_ENOMEM */
int gfc_graph_digest(const gfsmith_graph *graph, uint64_t *hash);

/* Words into `reason`, which may be NULL. @return status */
__attribute__((format(printf, 3, 4))) int gfc_graph_fail(char *reason, int status,
                                                         const char *format, ...);

#endif
