/* Samples: calls of a contender on a part of the pool, and their duration. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "cell.h"

/* The work of one thread: its part of the pool and, from DRAM, its position in the order. */
typedef struct lane {
  bench_job job;
  const uint32_t *order;
  size_t stripes;
  size_t cursor;
} lane;

typedef struct run {
  const cell *cell;
  lane lane[MAX_THREADS];
  unsigned threads;
  bool own_time; /* several threads: the longest processor time of one, not the wall-clock time */
  uint64_t random;
} run;

/* splitmix64: fixed seeds, so two runs visit the same stripes in the same order. */
uint64_t random_next(uint64_t *state);
void shuffle(uint32_t *list, size_t count, uint64_t *state);

/* Divide the pool among the threads; from DRAM, shuffle the stripes. */
void lanes_prepare(run *run, const arena *arena);

/* The number of stripes in a sample of the planned length. */
void calibrate(run *run, contender *who);

/* Pin the calling thread to one processor, and start the other threads of samples, each on another
 * processor. To be called once per process. */
void team_start(unsigned threads);

/* The number of untimed stripes before `count` timed ones. */
size_t sample_lead(const run *run, size_t count);

/* One sample: nanoseconds per stripe, over all threads, after `lead` untimed stripes. */
double sample(run *run, contender *who, size_t lead, size_t count);

/* True if all contenders compute the first one's bytes, for two stripes of random data; the others
 * are printed on stderr. */
bool contenders_agree(run *run, cell *cell);

#endif
