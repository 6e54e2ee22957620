#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "gfsmith_parallel.h"
#include "thread.h"

#if GFS_HAS_THREADS

/* A call of run(). It is on the stack of the calling thread, which returns after all tasks have
 * ended. All members are protected by the lock of the pool. */
typedef struct pool_job pool_job;
struct pool_job {
  void (*task)(void *argument, unsigned index);
  void *argument;
  unsigned tasks, begun, ended;
  pool_job *later;
};

struct gfsmith_pool {
  gfsmith_executor executor;
  gfs_lock lock;
  gfs_condition added; /* a job was added, or the pool closes */
  gfs_condition ended; /* the last task of a job has ended */
  pool_job *oldest;    /* jobs with tasks that no thread has begun */
  bool closing;
  long process; /* the process that has the threads */
  unsigned started;
  gfs_thread thread[];
};

static void append_job(gfsmith_pool *pool, pool_job *job) {
  pool_job **place = &pool->oldest;
  while (*place != NULL)
    place = &(*place)->later;
  *place = job;
}

static void remove_job(gfsmith_pool *pool, pool_job *job) {
  pool_job **place = &pool->oldest;
  while (*place != job)
    place = &(*place)->later;
  *place = job->later;
}

/* Perform the next task of a job. The caller holds the lock, also afterwards. If there are more
 * tasks, two waiting threads are woken first, if there are any. Each of them does the same, so many
 * threads start within a few wake-ups one after the other, and the calling thread starts at once.
 */
static void perform_task(gfsmith_pool *pool, pool_job *job) {
  unsigned index = job->begun++;
  bool more = job->begun < job->tasks;
  if (!more)
    remove_job(pool, job);
  gfs_lock_release(&pool->lock);
  if (more) {
    gfs_condition_wake_one(&pool->added);
    gfs_condition_wake_one(&pool->added);
  }
  job->task(job->argument, index);
  gfs_lock_take(&pool->lock);
  if (++job->ended == job->tasks)
    gfs_condition_wake_all(&pool->ended);
}

/* The body of a thread of the pool. */
static void serve_pool(void *argument) {
  gfsmith_pool *pool = argument;
  gfs_lock_take(&pool->lock);
  while (!pool->closing)
    if (pool->oldest != NULL)
      perform_task(pool, pool->oldest);
    else
      gfs_condition_wait(&pool->added, &pool->lock);
  gfs_lock_release(&pool->lock);
}

/* Share a job with the threads of the pool. The calling thread performs tasks of its own job only,
 * and then waits for tasks that other threads have begun. So a task that calls this function waits
 * for tasks of its own calls only, and there is no cycle of threads that wait for each other. */
static void share_job(gfsmith_pool *pool, pool_job *job) {
  gfs_lock_take(&pool->lock);
  append_job(pool, job);
  while (job->begun < job->tasks)
    perform_task(pool, job);
  while (job->ended < job->tasks)
    gfs_condition_wait(&pool->ended, &pool->lock);
  gfs_lock_release(&pool->lock);
}

/* The function `run` of the executor. */
static void run_in_pool(void *context, unsigned tasks, void (*task)(void *argument, unsigned index),
                        void *argument) {
  gfsmith_pool *pool = context;
  if (tasks > 1 && pool->process == gfs_threads_process()) {
    pool_job job = {.task = task, .argument = argument, .tasks = tasks};
    int cancel = gfs_cancel_forbid(); /* other threads use the job, and waiting holds the lock */
    share_job(pool, &job);
    gfs_cancel_restore(cancel);
    return;
  }
  for (unsigned index = 0; index < tasks; index++)
    task(argument, index);
}

/* Initialize the lock and the conditions of a pool: all or none. */
static bool init_pool(gfsmith_pool *pool) {
  if (!gfs_lock_init(&pool->lock))
    return false;
  if (gfs_condition_init(&pool->added)) {
    if (gfs_condition_init(&pool->ended))
      return true;
    gfs_condition_free(&pool->added);
  }
  gfs_lock_free(&pool->lock);
  return false;
}

gfsmith_status gfsmith_pool_create(gfsmith_pool **out, unsigned threads) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  if (threads > GFSMITH_POOL_MAX)
    return GFSMITH_EINVAL;
  if (threads == 0)
    threads = gfs_threads_processors();
  if (threads > GFSMITH_POOL_MAX)
    threads = GFSMITH_POOL_MAX;
  gfsmith_pool *pool = malloc(sizeof *pool + (threads - 1) * sizeof pool->thread[0]);
  if (pool == NULL)
    return GFSMITH_ENOMEM;
  *pool = (gfsmith_pool){.executor = {run_in_pool, pool, threads, 0}};
  pool->process = gfs_threads_process();
  if (!init_pool(pool)) {
    free(pool);
    return GFSMITH_ENOMEM;
  }
  for (; pool->started < threads - 1; pool->started++)
    if (!gfs_thread_start(&pool->thread[pool->started], serve_pool, pool)) {
      gfsmith_pool_destroy(pool);
      return GFSMITH_ENOMEM;
    }
  *out = pool;
  return GFSMITH_OK;
}

void gfsmith_pool_destroy(gfsmith_pool *pool) {
  if (pool == NULL)
    return;
  int cancel = gfs_cancel_forbid();
  /* A child after fork() has neither the threads nor a lock in a defined state. */
  if (pool->process == gfs_threads_process()) {
    gfs_lock_take(&pool->lock);
    pool->closing = true;
    gfs_condition_wake_all(&pool->added);
    gfs_lock_release(&pool->lock);
    for (unsigned n = 0; n < pool->started; n++)
      gfs_thread_join(&pool->thread[n]);
    gfs_condition_free(&pool->ended);
    gfs_condition_free(&pool->added);
    gfs_lock_free(&pool->lock);
  }
  free(pool);
  gfs_cancel_restore(cancel);
}

const gfsmith_executor *gfsmith_pool_executor(const gfsmith_pool *pool) {
  return pool != NULL ? &pool->executor : NULL;
}

#else

gfsmith_status gfsmith_pool_create(gfsmith_pool **out, unsigned threads) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  return threads > GFSMITH_POOL_MAX ? GFSMITH_EINVAL : GFSMITH_EUNSUPPORTED;
}

void gfsmith_pool_destroy(gfsmith_pool *pool) { (void)pool; }

const gfsmith_executor *gfsmith_pool_executor(const gfsmith_pool *pool) {
  (void)pool;
  return NULL;
}

#endif
