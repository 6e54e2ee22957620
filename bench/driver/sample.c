/* Timing of one contender: lanes of the pool, threads, clocks. */
#define _GNU_SOURCE
#include "sample.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { LINE = 64 };

/* One thread: the time this process had the processor, so that other processes in between do not
 * count. Several threads: the time on the clock. */
static uint64_t now(unsigned threads) {
  struct timespec at;
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void shuffle(uint32_t *list, size_t count, uint64_t *state) {
  for (size_t n = count; n > 1; n--) {
    size_t other = random_next(state) % n;
    uint32_t held = list[n - 1];
    list[n - 1] = list[other];
    list[other] = held;
  }
}

void lanes_prepare(run *run, const arena *arena) {
  const cell *cell = run->cell;
  size_t pitch = (cell->len + LINE - 1) / LINE * LINE + arena->stagger;
  size_t stripe = pitch * (cell->k + cell->m), part = arena->bytes / arena->threads / 4096 * 4096;
  size_t stripes = part / stripe, room = arena->orders / arena->threads;
  stripes = stripes < room ? stripes : room;
  for (unsigned t = 0; t < run->threads; t++) {
    lane *lane = &run->lane[t];
    uint32_t *order = arena->order + t * room;
    for (size_t n = 0; cell->dram && n < stripes; n++)
      order[n] = (uint32_t)n;
    if (cell->dram)
      shuffle(order, stripes, &run->random);
    lane->order = cell->dram ? order : NULL;
    lane->stripes = stripes;
    lane->cursor = 0;
    lane->job = (bench_job){.base = arena->pool + t * part,
                            .len = cell->len,
                            .pitch = pitch,
                            .k = cell->k,
                            .m = cell->m};
  }
}

/* The next `count` stripes of a lane; at the end of the pool it begins anew. */
static void lane_run(lane *lane, contender *who, unsigned thread, size_t count) {
  while (count > 0) {
    size_t left = lane->order != NULL ? lane->stripes - lane->cursor : count;
    size_t part = count < left ? count : left;
    lane->job.order = lane->order != NULL ? lane->order + lane->cursor : NULL;
    lane->job.count = part;
    who->api->run(who->instance[thread], &lane->job);
    if (lane->order != NULL)
      lane->cursor = (lane->cursor + part) % lane->stripes;
    count -= part;
  }
}

typedef struct worker {
  run *run;
  contender *who;
  unsigned thread;
  size_t lead, count;
  pthread_barrier_t *start;
  uint64_t begin, end;
} worker;

/* Some peers leave the upper halves of vector registers in use, which slows SSE code of the next
 * one down on some CPUs; that is not to be charged to it. */
__attribute__((target("avx"))) static void clear_uppers(void) { _mm256_zeroupper(); }

/* Keep the calling thread on the n-th processor that is allowed: the scheduler would need longer
 * than a sample to move one of two threads away from the other. */
static void keep_to(unsigned n) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed) && n-- == 0) {
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

/* `lead` stripes are not timed: they push what the contender before left in the caches out. */
static void *work(void *opaque) {
  worker *w = opaque;
  lane *lane = &w->run->lane[w->thread];
  if (w->start != NULL)
    keep_to(w->thread);
  if (__builtin_cpu_supports("avx"))
    clear_uppers();
  lane_run(lane, w->who, w->thread, w->lead);
  if (w->start != NULL)
    pthread_barrier_wait(w->start);
  w->begin = now(w->run->threads);
  lane_run(lane, w->who, w->thread, w->count);
  w->end = now(w->run->threads);
  return NULL;
}

/* Run the workers at the same time, each on a thread of its own. */
static void work_together(worker *workers, unsigned threads) {
  pthread_barrier_t start;
  pthread_t handle[MAX_THREADS];
  pthread_barrier_init(&start, NULL, threads);
  for (unsigned t = 0; t < threads; t++) {
    workers[t].start = &start;
    if (pthread_create(&handle[t], NULL, work, &workers[t]) != 0)
      abort();
  }
  for (unsigned t = 0; t < threads; t++)
    pthread_join(handle[t], NULL);
  pthread_barrier_destroy(&start);
}

double sample(run *run, contender *who, size_t count) {
  unsigned threads = who->alone ? 1 : run->threads;
  size_t lead = run->cell->dram ? count / 3 + 1 : 1;
  worker workers[MAX_THREADS];
  for (unsigned t = 0; t < threads; t++)
    workers[t] = (worker){run, who, t, lead, count, NULL, 0, 0};
  if (threads > 1)
    work_together(workers, threads);
  else
    work(&workers[0]);
  uint64_t begin = workers[0].begin, end = workers[0].end;
  for (unsigned t = 1; t < threads; t++) {
    begin = workers[t].begin < begin ? workers[t].begin : begin;
    end = workers[t].end > end ? workers[t].end : end;
  }
  return (double)(end - begin) / (double)count / threads;
}

void calibrate(run *run, contender *who) {
  double aim = run->cell->microseconds * 1000.0 * run->threads;
  who->count = 1;
  for (int step = 0; step < 40; step++) {
    double per_stripe = sample(run, who, who->count);
    double total = per_stripe * (double)who->count;
    if (total >= aim / 4) {
      size_t count = (size_t)(aim / per_stripe / run->threads);
      who->count = count > 0 ? count : 1;
      return;
    }
    who->count *= 2;
  }
}
