/* The page that all drivers of a fleet share: who is there for an operation, when the first leaf
 * began it and when the last sink had it. Times are those of CLOCK_MONOTONIC, which is one for all
 * processes of a machine. Python reads the times and clears the page between runs
 * (bench/compose/fleet.py has the same layout). */
#ifndef GFSMITH_BENCH_COMPOSE_TURNS_H
#define GFSMITH_BENCH_COMPOSE_TURNS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TURNS = 4096, RANKS = 32 };

typedef struct turn {
  _Atomic uint64_t start; /* of the first leaf; UINT64_MAX before */
  _Atomic uint64_t end;   /* of the last sink; 0 before */
  _Atomic uint32_t arrived;
  uint32_t unused;
} turn;

typedef struct turns {
  turn turn[TURNS];
  _Atomic uint32_t failed; /* somebody did: nobody waits for it */
  sem_t go[RANKS];         /* one for each leaf */
} turns;

/* What a rank does in a graph: bit n of a mask stands for rank n. */
typedef struct roles {
  uint32_t part, leaf, sink;
} roles;

/* Map the page and make this rank's semaphore. NULL: errno says why. */
turns *turns_map(const char *path, unsigned rank);
uint64_t turns_now(void);
/* Say that this rank is there for a turn. A leaf waits until all are; others go on. False: somebody
 * failed. */
bool turns_arrive(turns *all, const roles *roles, unsigned rank, unsigned n);
void turns_begun(turns *all, unsigned n, uint64_t when);
void turns_over(turns *all, unsigned n, uint64_t when);
/* Let nobody wait any longer. */
void turns_fail(turns *all);

#endif
