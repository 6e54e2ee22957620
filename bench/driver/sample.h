/* Samples: who runs on what for how long, and how long that took. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "cell.h"

/* What one thread works on: its part of the pool and, from DRAM, where in its order it stands. */
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
  bool own_time; /* several threads: the longest processor time of one, not the time on the clock */
  uint64_t random;
} run;

/* splitmix64: fixed seeds, so two runs visit the same stripes in the same order. */
uint64_t random_next(uint64_t *state);
void shuffle(uint32_t *list, size_t count, uint64_t *state);

/* Divide the pool among the threads; from DRAM, shuffle the stripes. */
void lanes_prepare(run *run, const arena *arena);

/* How many stripes make one sample of the length the plan asks for. */
void calibrate(run *run, contender *who);

/* Keep the calling thread to one processor, and start those that samples of several threads take
 * besides, each on another. Once in a process. */
void team_start(unsigned threads);

/* How many stripes go before so many that are timed. */
size_t sample_lead(const run *run, size_t count);

/* One sample: nanoseconds for a stripe, over all threads. `lead` stripes come before it. */
double sample(run *run, contender *who, size_t lead, size_t count);

/* Whether all contenders compute the first one's bytes, for two stripes of random data; who does
 * not is said on stderr. */
bool contenders_agree(run *run, cell *cell);

#endif
