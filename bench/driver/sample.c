/* Timing of one contender: lanes of the pool, threads, clocks. */
#define _GNU_SOURCE
#include "sample.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { LINE = 64 };

/* One thread: the processor time of this process, without the time of other processes. Several
 * threads: the wall-clock time, or the processor time of each. */
static uint64_t now(const run *run) {
  clockid_t several = run->own_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  struct timespec at;
  clock_gettime(run->threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : several, &at);
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
    if (cell->shuffled)
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

/* Run the next `count` stripes of a lane; at the end of the pool it starts again. */
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
  uint64_t begin, end;
} worker;

/* The threads that run samples: thread 0 is the caller, the others wait between samples. They exist
 * until the end, because a contender's decisions depend on the number of threads. */
static struct team {
  unsigned together; /* number of threads in a sample */
  cpu_set_t allowed;
  struct member {
    pthread_t thread;
    sem_t go, done;
    worker *work;
  } member[MAX_THREADS];
} team;

/* Number of threads that have arrived at the start; they spin, since waking takes part of a sample.
 * */
static atomic_uint arrived;

/* Some peers leave the upper halves of vector registers in use, which slows down SSE code of the
 * next contender on some CPUs. That cost is not the next contender's. */
__attribute__((target("avx"))) static void clear_uppers(void) { _mm256_zeroupper(); }

/* Pin the calling thread to its own processor, the n-th from the end of the allowed ones: the
 * scheduler would need longer than a sample to move one of two threads away from the other. */
static void keep_to(unsigned n) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
    if (CPU_ISSET(cpu, &team.allowed) && n-- == 0) {
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

/* The first `lead` stripes are not timed: they evict the previous contender's data from the caches.
 * */
static void work(worker *w, unsigned threads) {
  lane *lane = &w->run->lane[w->thread];
  if (__builtin_cpu_supports("avx"))
    clear_uppers();
  lane_run(lane, w->who, w->thread, w->lead);
  atomic_fetch_add(&arrived, 1);
  while (atomic_load(&arrived) < threads)
    sched_yield();
  w->begin = now(w->run);
  lane_run(lane, w->who, w->thread, w->count);
  w->end = now(w->run);
}

static void *member_run(void *opaque) {
  struct member *self = opaque;
  keep_to((unsigned)(self - team.member));
  for (;;) {
    while (sem_wait(&self->go) != 0)
      continue;
    work(self->work, team.together);
    sem_post(&self->done);
  }
  return NULL;
}

void team_start(unsigned threads) {
  sched_getaffinity(0, sizeof team.allowed, &team.allowed);
  keep_to(0);
  for (unsigned t = 1; t < threads; t++) {
    struct member *member = &team.member[t];
    if (sem_init(&member->go, 0, 0) != 0 || sem_init(&member->done, 0, 0) != 0 ||
        pthread_create(&member->thread, NULL, member_run, member) != 0)
      abort();
  }
}

/* Run the workers at the same time, each on its own thread. */
static void work_together(worker *workers, unsigned threads) {
  atomic_store(&arrived, 0);
  team.together = threads;
  for (unsigned t = 1; t < threads; t++) {
    team.member[t].work = &workers[t];
    sem_post(&team.member[t].go);
  }
  work(&workers[0], threads);
  for (unsigned t = 1; t < threads; t++)
    while (sem_wait(&team.member[t].done) != 0)
      continue;
}

size_t sample_lead(const run *run, size_t count) { return run->cell->dram ? count / 3 + 1 : 1; }

double sample(run *run, contender *who, size_t lead, size_t count) {
  unsigned threads = who->alone ? 1 : run->threads;
  worker workers[MAX_THREADS];
  for (unsigned t = 0; t < threads; t++)
    workers[t] = (worker){run, who, t, lead, count, 0, 0};
  work_together(workers, threads);
  uint64_t begin = workers[0].begin, end = workers[0].end, longest = end - begin;
  for (unsigned t = 1; t < threads; t++) {
    uint64_t own = workers[t].end - workers[t].begin;
    begin = workers[t].begin < begin ? workers[t].begin : begin;
    end = workers[t].end > end ? workers[t].end : end;
    longest = own > longest ? own : longest;
  }
  return (double)(run->own_time ? longest : end - begin) / (double)count / threads;
}

void calibrate(run *run, contender *who) {
  double aim = run->cell->microseconds * 1000.0 * run->threads;
  who->count = 1;
  for (int step = 0; step < 40; step++) {
    double per_stripe = sample(run, who, sample_lead(run, who->count), who->count);
    double total = per_stripe * (double)who->count;
    if (total >= aim / 4) {
      size_t count = (size_t)(aim / per_stripe / run->threads);
      who->count = count > 0 ? count : 1;
      return;
    }
    who->count *= 2;
  }
}
