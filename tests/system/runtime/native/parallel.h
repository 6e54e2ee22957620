/* parallel.h: executors for the tests of parallel calls, and shards with a copy. */
#ifndef PARALLEL_H
#define PARALLEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "gfsmith_parallel.h"
#include "reference.h"

typedef void run_task(void *argument, unsigned index);

/* The number of calls of an executor, and of tasks in the last one. */
static atomic_uint runs, last_tasks;

static void count(unsigned tasks) {
  atomic_fetch_add(&runs, 1);
  atomic_store(&last_tasks, tasks);
}

static inline void run_in_order(void *context, unsigned tasks, run_task *task, void *argument) {
  (void)context;
  count(tasks);
  for (unsigned n = 0; n < tasks; n++)
    task(argument, n);
}

static inline void run_reversed(void *context, unsigned tasks, run_task *task, void *argument) {
  (void)context;
  count(tasks);
  for (unsigned n = tasks; n-- > 0;)
    task(argument, n);
}

/* Only the task whose number the context has. */
static inline void run_one(void *context, unsigned tasks, run_task *task, void *argument) {
  count(tasks);
  REQUIRE(*(unsigned *)context < tasks);
  task(argument, *(unsigned *)context);
}

/* A thread for each task. */
typedef struct errand {
  run_task *task;
  void *argument;
  unsigned index;
} errand;

static inline void *run_errand(void *of) {
  errand *e = of;
  e->task(e->argument, e->index);
  return NULL;
}

static inline void run_fresh(void *context, unsigned tasks, run_task *task, void *argument) {
  enum { MOST = 64 };
  pthread_t threads[MOST];
  errand errands[MOST];
  (void)context;
  count(tasks);
  REQUIRE(tasks <= MOST);
  for (unsigned n = 0; n < tasks; n++) {
    errands[n] = (errand){task, argument, n};
    REQUIRE(pthread_create(&threads[n], NULL, run_errand, &errands[n]) == 0);
  }
  for (unsigned n = 0; n < tasks; n++)
    REQUIRE(pthread_join(threads[n], NULL) == 0);
}

/* The executor of a pool, counted. */
static inline void run_counted(void *context, unsigned tasks, run_task *task, void *argument) {
  const gfsmith_executor *pool = context;
  count(tasks);
  pool->run(pool->context, tasks, task, argument);
}

/* Shards with guard bytes between them, at a distance from a cache line. */
enum { MOST_SHARDS = 40, GUARD = 64 };
typedef struct block {
  uint8_t *memory;
  size_t bytes;
  uint8_t *shard[MOST_SHARDS];
} block;

static inline block block_of(unsigned shards, size_t len, size_t offset, uint64_t seed) {
  size_t stride = (len + 2 * GUARD - 1) / GUARD * GUARD;
  block b = {.bytes = shards * stride + 2 * GUARD};
  REQUIRE(shards <= MOST_SHARDS && offset < GUARD);
  b.memory = aligned_alloc(GUARD, b.bytes);
  REQUIRE(b.memory != NULL);
  for (size_t n = 0; n < b.bytes; n++)
    b.memory[n] = (uint8_t)reference_random(&seed);
  for (unsigned n = 0; n < shards; n++)
    b.shard[n] = b.memory + GUARD + offset + n * stride;
  return b;
}

static inline const uint8_t *const *read_only(uint8_t *const *shards) {
  return (const uint8_t *const *)shards;
}

#endif
