/* One cell of the measurement: a code, a shape, a length, a regime, and who takes part. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

#include <stdbool.h>

#include "peer.h"

enum { MAX_CONTENDERS = 64, MAX_THREADS = 2, NAME_SIZE = 64 };

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
  bool dram;     /* stripes all over the pool; else one stripe again and again */
  bool shuffled; /* in shuffled order; else one after the other */
  unsigned rounds;
  unsigned microseconds; /* of one sample */
  bool has_matrix;
  uint8_t matrix[BENCH_MAX_SHARDS * BENCH_MAX_SHARDS / 4];
  unsigned contenders;
  contender contender[MAX_CONTENDERS];
} cell;

/* The memory all contenders work on, and the threads. */
typedef struct arena {
  uint8_t *pool;
  size_t bytes;
  uint32_t *order;
  size_t orders; /* how many stripe numbers `order` can hold */
  unsigned threads;
  size_t stagger; /* bytes between the end of a shard and the next */
} arena;

/* Bytes of memory, every page written with bytes that are not zero, so that none is the shared zero
 * page; NULL if there is no memory. */
uint8_t *pool_make(size_t bytes, bool huge);

/* A library that can be asked for, or NULL. */
const peer_api *library_find(const char *name);
/* Make a part of the driver one; false if there are too many. */
bool library_add(const char *name, const peer_api *api);
/* Load "name=file"; what cannot be loaded is said on stderr. */
bool library_load(const char *argument);

/* Read one line of the plan into a cell. NULL, or what is wrong with the line, which is changed. */
const char *cell_parse(cell *out, char *line);

/* What a contender of the cell is opened with. */
bench_spec cell_spec(const cell *cell, const contender *who);

/* Open the contenders, compare their parities, measure, and print one JSON object a line.
 * False if a contender's bytes are wrong. */
bool cell_measure(cell *cell, const arena *arena);

#endif
