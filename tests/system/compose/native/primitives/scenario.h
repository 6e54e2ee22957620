/* Random jobs: a directed acyclic graph of operations, one per rank, with the expected bytes. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "gfsmith_compose.h"

enum { RANKS = 6, LOCALS = 3, OUTPUTS = 4, RECEIVES = 24, TARGETS = 16 };

typedef struct vertex {
  gfsmith_wait wait;
  gfsmith_source source[RECEIVES];
  gfsmith_calc calc;
  uint8_t matrix[OUTPUTS * (LOCALS + RECEIVES)];
  gfsmith_memory memory;
  uint8_t *local[LOCALS], *received[RECEIVES], *output[LOCALS + RECEIVES];
  gfsmith_stripe stripe;
  gfsmith_target target[TARGETS];
  uint8_t *expected[LOCALS + RECEIVES]; /* of every output */
  const uint8_t *incoming[RECEIVES];    /* of every receive: another vertex's expected */
  gfsmith_job job;
  /* Outcome of the operation. */
  unsigned calls;
  gfsmith_outcome outcome;
} vertex;

typedef struct scenario {
  unsigned vertices;
  vertex vertex[RANKS];
} scenario;

typedef struct random_source {
  uint64_t state;
} random_source;

/* Returns a random number below `limit`. */
unsigned below(random_source *random, unsigned limit);

void scenario_make(scenario *scenario, random_source *random, unsigned vertices, uint64_t job,
                   size_t length, size_t slice);
/* Posts the operation of this rank; its outcome goes into the vertex. */
int scenario_post(scenario *scenario, unsigned rank, gfsmith_node *node,
                  gfsmith_operation **operation);
int scenario_incoherent(scenario *scenario, unsigned rank, gfsmith_node *node);
/* Exits with a message unless every kept output, and every shard received into our memory, is
 * right. */
void scenario_check(const scenario *scenario, unsigned rank);
void scenario_free(scenario *scenario);

/* Exits with a message unless the condition holds. */
#define REQUIRE(condition, ...) require((condition), __FILE__, __LINE__, __VA_ARGS__)
void require(bool holds, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
