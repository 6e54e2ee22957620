#include "workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_THREADS = 256 };

struct workers {
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  pthread_t threads[MOST_THREADS];
  unsigned count;  /* of threads, without the calling one */
  unsigned next;   /* task */
  unsigned tasks;  /* of the current run */
  unsigned active; /* tasks that are not finished */
  void (*task)(void *argument, unsigned index);
  void *argument;
  bool stop;
};

/* Perform tasks until none is left. The caller holds the lock. */
static void work(workers *pool) {
  while (pool->next < pool->tasks) {
    unsigned index = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    pool->task(pool->argument, index);
    pthread_mutex_lock(&pool->lock);
    if (--pool->active == 0)
      pthread_cond_signal(&pool->end);
  }
}

static void *serve(void *context) {
  workers *pool = context;
  pthread_mutex_lock(&pool->lock);
  while (!pool->stop) {
    work(pool);
    if (!pool->stop)
      pthread_cond_wait(&pool->begin, &pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

static unsigned processors(void) {
  cpu_set_t set;
  int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

workers *workers_start(unsigned threads) {
  sigset_t all, before;
  unsigned wanted = threads != 0 ? threads : processors();
  workers *pool = wanted > 1 ? calloc(1, sizeof *pool) : NULL;
  if (pool == NULL)
    return NULL;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->begin, NULL);
  pthread_cond_init(&pool->end, NULL);
  /* Signals interrupt the main thread only. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool->count + 1 < wanted && pool->count < MOST_THREADS &&
         pthread_create(&pool->threads[pool->count], NULL, serve, pool) == 0)
    pool->count++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return pool;
}

void workers_run(void *context, unsigned tasks, void (*task)(void *argument, unsigned index),
                 void *argument) {
  workers *pool = context;
  pthread_mutex_lock(&pool->lock);
  pool->task = task;
  pool->argument = argument;
  pool->tasks = pool->active = tasks;
  pool->next = 1;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->lock);
  task(argument, 0);
  pthread_mutex_lock(&pool->lock);
  pool->active--;
  work(pool);
  while (pool->active > 0)
    pthread_cond_wait(&pool->end, &pool->lock);
  pool->tasks = 0;
  pthread_mutex_unlock(&pool->lock);
}

void workers_stop(workers *pool) {
  if (pool == NULL)
    return;
  pthread_mutex_lock(&pool->lock);
  pool->stop = true;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->lock);
  for (unsigned i = 0; i < pool->count; i++)
    pthread_join(pool->threads[i], NULL);
  pthread_mutex_destroy(&pool->lock);
  pthread_cond_destroy(&pool->begin);
  pthread_cond_destroy(&pool->end);
  free(pool);
}
