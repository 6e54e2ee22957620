/* The page that all drivers of a fleet share: for each operation the number of ready ranks, the
 * time at which the first leaf began it and the time at which the last sink had its result. The
 * clock is CLOCK_MONOTONIC, which all processes of a machine share. Python reads the times and
 * clears the page between runs (bench/compose/fleet.py has the same layout). */
#ifndef GFSMITH_BENCH_COMPOSE_ROUNDS_H
#define GFSMITH_BENCH_COMPOSE_ROUNDS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ROUNDS = 4096, RANKS = 32 };

typedef struct round_times {
  _Atomic uint64_t start; /* of the first leaf; UINT64_MAX before */
  _Atomic uint64_t end;   /* of the last sink; 0 before */
  _Atomic uint32_t arrived;
  uint32_t unused;
} round_times;

typedef struct rounds {
  round_times round[ROUNDS];
  _Atomic uint32_t failed; /* a rank failed: no rank waits for it */
  sem_t go[RANKS];         /* one for each leaf */
} rounds;

/* The roles of ranks in a graph: bit n of a mask represents rank n. */
typedef struct roles {
  uint32_t part, leaf, sink;
} roles;

/* Map the page and create this rank's semaphore. NULL: errno has the reason. */
rounds *rounds_map(const char *path, unsigned rank);
uint64_t rounds_now(void);
/* Announce that this rank is ready for a round. A leaf waits until all ranks are ready; others do
 * not wait. False: a rank failed. */
bool rounds_arrive(rounds *all, const roles *roles, unsigned rank, unsigned n);
void rounds_begun(rounds *all, unsigned n, uint64_t when);
void rounds_over(rounds *all, unsigned n, uint64_t when);
/* Mark the run as failed and wake all waiting ranks. */
void rounds_fail(rounds *all);

#endif
