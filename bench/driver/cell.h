/* One cell of the measurement: a code, a shape, a length, a regime, and its contenders. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

#include <stdbool.h>

#include "peer.h"

enum { MAX_CONTENDERS = 128, MAX_THREADS = 2, NAME_SIZE = 64 };

/* A contender of a cell. The name is "library:variant"; one instance for each thread. */
typedef struct contender {
  char name[NAME_SIZE];
  const peer_api *api;
  void *instance[MAX_THREADS];
  bool same_matrix; /* its parities must equal gfsmith's */
  bool alone;       /* it starts its own threads: one caller */
  size_t count;     /* stripes in one sample */
} contender;

typedef struct cell {
  const char *id;
  const char *code;
  unsigned k, m;
  size_t len;
  bool dram;     /* stripes all over the pool; otherwise the same stripe each time */
  bool shuffled; /* in shuffled order; otherwise in order */
  unsigned rounds;
  unsigned microseconds; /* of one sample */
  bool has_matrix;
  uint8_t matrix[BENCH_MAX_SHARDS * BENCH_MAX_SHARDS / 4];
  unsigned contenders;
  contender contender[MAX_CONTENDERS];
} cell;

/* The memory that all contenders work on, and the threads. */
typedef struct arena {
  uint8_t *pool;
  size_t bytes;
  uint32_t *order;
  size_t orders; /* capacity of `order` in stripe numbers */
  unsigned threads;
  size_t stagger; /* bytes between the end of a shard and the next */
} arena;

/* Allocate memory and write nonzero bytes to every page, so that none is the shared zero page; NULL
 * if there is no memory. */
uint8_t *pool_make(size_t bytes, bool huge);

/* The library of this name, or NULL. */
const peer_api *library_find(const char *name);
/* Add a part of the driver as a library; false if there are too many. */
bool library_add(const char *name, const peer_api *api);
/* Load "name=file"; errors are printed on stderr. */
bool library_load(const char *argument);

/* Read one line of the plan into a cell. NULL, or the error in the line; the line is changed. */
const char *cell_parse(cell *out, char *line);

/* The parameters for opening a contender of the cell. */
bench_spec cell_spec(const cell *cell, const contender *who);

/* Open the contenders, compare their parities, measure, and print one JSON object a line.
 * False if a contender's bytes are wrong. */
bool cell_measure(cell *cell, const arena *arena);

#endif
