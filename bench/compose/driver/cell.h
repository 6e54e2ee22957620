/* One graph at one length: its shards on this rank, their expected contents, and runs of it. */
#ifndef GFSMITH_BENCH_COMPOSE_CELL_H
#define GFSMITH_BENCH_COMPOSE_CELL_H

#include "gfsmith_compose.h"
#include "rounds.h"

enum { WINDOW_MAX = 16, REASON = GFSMITH_REASON_MAX + 64 };

/* The parameters of the command. lost: the missing shard, or -1 to encode. */
typedef struct shape {
  char scheme[16];
  unsigned k, m, l, r; /* l = 0: no local code; else m = l + r */
  int lost;
  size_t length, slice;
  unsigned window; /* outstanding operations: 1 to measure latency, more to measure bandwidth */
} shape;

typedef struct cell {
  gfsmith_node *node;
  gfsmith_codec *codec;
  gfsmith_graph *graph;
  gfsmith_region *region;
  gfsmith_choices *choices; /* of hybrid runs; NULL: none */
  shape shape;
  roles roles;
  unsigned rank, outputs; /* outputs: number of shards that this rank receives */
  bool gets[GFSMITH_MAX_SHARDS];
  uint8_t *memory;   /* inputs, then outputs of each place of the window */
  uint8_t *expected; /* the correct outputs */
  uint8_t *shard[WINDOW_MAX][GFSMITH_MAX_SHARDS]; /* for each place of the window */
} cell;

typedef enum cell_way { CELL_COMPOSED, CELL_INCOHERENT, CELL_HYBRID } cell_way;

/* A run: `count` operations, whose jobs are numbered from `job`. */
typedef struct cell_run {
  uint64_t job;
  unsigned count;
  cell_way way;
} cell_run;

/* All of these return false on an error and write it to `reason` (REASON bytes). */
bool cell_open(cell *out, gfsmith_node *node, const shape *shape, char *reason);
bool cell_go(cell *cell, rounds *rounds, const cell_run *run, char *reason);
void cell_close(cell *cell);
/* The codec of a shape. */
int cell_codec(gfsmith_codec **out, const shape *shape);

/* Bytes from one shard's beginning to the next one's. */
size_t cell_pitch(size_t length);
/* Bytes of a data shard: the byte of shard j at offset o is a function of j and o only. */
void pattern_fill(uint8_t *to, unsigned shard, size_t offset, size_t length);

#endif
