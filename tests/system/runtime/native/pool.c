/* pool: the library's own threads: many callers, nested calls, fork, signals, idle threads, callers
 * that are cancelled. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include <dirent.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parallel.h"

enum { K = 6, M = 3, LEN = 30011, CALLERS = 4, ROUNDS = 12, THREADS = 3 };

static gfsmith_codec *codec;
static gfsmith_executor executor; /* of the pool, for short shards */

/* Each caller has its own shards. */
static void *call_often(void *seed) {
  block b = block_of(K + M, LEN, 0, (uintptr_t)seed), same = block_of(K + M, LEN, 0, 0);
  REQUIRE(gfsmith_encode(codec, LEN, read_only(b.shard), b.shard + K) == GFSMITH_OK);
  memcpy(same.memory, b.memory, b.bytes);
  for (unsigned round = 0; round < ROUNDS; round++) {
    bool present[K + M], ok = false;
    for (unsigned n = 0; n < K + M; n++) {
      present[n] = n % K != round % K;
      if (!present[n])
        memset(b.shard[n], 0, LEN);
    }
    REQUIRE(gfsmith_reconstruct_parallel(codec, &executor, LEN, b.shard, present, NULL) ==
            GFSMITH_OK);
    REQUIRE(gfsmith_check_parallel(codec, &executor, LEN, read_only(b.shard), &ok) == GFSMITH_OK);
    REQUIRE(ok && memcmp(b.memory, same.memory, b.bytes) == 0);
  }
  free(b.memory);
  free(same.memory);
  return NULL;
}

static void many_callers(void) {
  pthread_t threads[CALLERS];
  for (uintptr_t n = 0; n < CALLERS; n++)
    REQUIRE(pthread_create(&threads[n], NULL, call_often, (void *)(n + 1)) == 0);
  for (unsigned n = 0; n < CALLERS; n++)
    REQUIRE(pthread_join(threads[n], NULL) == 0);
}

/* A result of each task in plain memory: run() must make it visible to the caller. */
typedef struct tally {
  unsigned long results[64];
  unsigned depth;
} tally;

static void nest(void *argument, unsigned index) {
  tally *t = argument;
  if (t->depth == 0) {
    for (unsigned n = 0; n < 2000; n++) /* long enough for the other threads to take part */
      t->results[index] += n + index;
    return;
  }
  tally inner = {.depth = t->depth - 1};
  executor.run(executor.context, 16, nest, &inner);
  for (unsigned n = 0; n < 16; n++)
    t->results[index] += inner.results[n];
}

static void nested(void) {
  for (unsigned round = 0; round < 20; round++) {
    tally t = {.depth = 2};
    executor.run(executor.context, 8, nest, &t);
    unsigned long least = 2000ul * 1999 / 2, inner = 16 * least + 2000ul * (15 * 16 / 2);
    for (unsigned n = 0; n < 8; n++)
      REQUIRE(t.results[n] == 16 * inner);
    REQUIRE(t.results[8] == 0);
  }
  executor.run(executor.context, 0, nest, NULL);
}

static atomic_bool enough;

static void tiny(void *argument, unsigned index) { (void)argument, (void)index; }

/* Keep the lock of the pool busy. */
static void *hammer(void *argument) {
  while (!atomic_load(&enough))
    executor.run(executor.context, 64, tiny, argument);
  return NULL;
}

/* In a child process the pool works in the calling thread, even if the lock was taken at the fork.
 */
static void forked(gfsmith_pool *pool) {
  pthread_t busy;
  REQUIRE(pthread_create(&busy, NULL, hammer, NULL) == 0);
  for (unsigned n = 0; n < 40; n++) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(20); /* a child that waits for threads of its parent ends */
      executor.run(executor.context, 8, tiny, NULL);
      gfsmith_pool_destroy(pool);
      _exit(42);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
  }
  atomic_store(&enough, true);
  REQUIRE(pthread_join(busy, NULL) == 0);
}

static pthread_t main_thread;
static atomic_uint elsewhere;

/* Wait until another thread has performed a task; it blocks all signals but those of accesses. */
static void look_at_mask(void *argument, unsigned index) {
  (void)argument, (void)index;
  if (!pthread_equal(pthread_self(), main_thread)) {
    sigset_t mask;
    REQUIRE(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    REQUIRE(sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGCHLD) == 1);
    REQUIRE(sigismember(&mask, SIGBUS) == 0 && sigismember(&mask, SIGSEGV) == 0);
    atomic_fetch_add(&elsewhere, 1);
    return;
  }
  while (atomic_load(&elsewhere) == 0)
    sched_yield();
}

static void signals(void) {
  sigset_t before, after;
  main_thread = pthread_self();
  REQUIRE(pthread_sigmask(SIG_BLOCK, NULL, &before) == 0);
  executor.run(executor.context, 2, look_at_mask, NULL);
  REQUIRE(pthread_sigmask(SIG_BLOCK, NULL, &after) == 0);
  REQUIRE(sigismember(&before, SIGINT) == 0 && sigismember(&after, SIGINT) == 0);
}

static atomic_size_t stack;

/* Wait until another thread has performed a task, and measure its stack. */
static void look_at_stack(void *argument, unsigned index) {
  (void)argument, (void)index;
  pthread_attr_t how;
  size_t bytes;
  if (!pthread_equal(pthread_self(), main_thread)) {
    REQUIRE(pthread_getattr_np(pthread_self(), &how) == 0);
    REQUIRE(pthread_attr_getstacksize(&how, &bytes) == 0);
    REQUIRE(pthread_attr_destroy(&how) == 0);
    atomic_store(&stack, bytes);
    return;
  }
  while (atomic_load(&stack) == 0)
    sched_yield();
}

/* The C library may take this from the stack of a thread. */
static _Thread_local volatile uint8_t variables[512 << 10];

/* A program with small stacks: those of the pool have room for each call beside thread-local
 * variables. One with large stacks has them in the pool, too. */
static void stacks(void) {
  static const size_t chosen[] = {32 << 10, 2 << 20};
  variables[0] = 1;
  pthread_attr_t before, how;
  REQUIRE(pthread_getattr_default_np(&before) == 0 && pthread_attr_init(&how) == 0);
  for (unsigned n = 0; n < 2; n++) {
    gfsmith_pool *pool;
    REQUIRE(pthread_attr_setstacksize(&how, chosen[n]) == 0);
    REQUIRE(pthread_setattr_default_np(&how) == 0);
    REQUIRE(gfsmith_pool_create(&pool, 2) == GFSMITH_OK);
    const gfsmith_executor *threads = gfsmith_pool_executor(pool);
    atomic_store(&stack, 0);
    threads->run(threads->context, 2, look_at_stack, NULL);
    REQUIRE(atomic_load(&stack) >= (n == 0 ? 1 << 20 : chosen[n]));
    gfsmith_pool_destroy(pool);
  }
  REQUIRE(pthread_setattr_default_np(&before) == 0);
  REQUIRE(pthread_attr_destroy(&how) == 0 && pthread_attr_destroy(&before) == 0);
}

/* The number of this process's threads that run or could run, and of all threads. */
static unsigned awake(unsigned *all) {
  DIR *tasks = opendir("/proc/self/task");
  REQUIRE(tasks != NULL);
  unsigned running = 0;
  *all = 0;
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    char path[300], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
    FILE *file = entry->d_name[0] != '.' ? fopen(path, "r") : NULL;
    if (file == NULL)
      continue;
    REQUIRE(fscanf(file, "%*d %*s %c", &state) == 1);
    fclose(file);
    running += state == 'R';
    ++*all;
  }
  closedir(tasks);
  return running;
}

/* Waiting threads sleep: only this one runs, a hundred times in sequence. */
static void idle(void) {
  unsigned quiet = 0, all;
  for (unsigned n = 0; n < 20000 && quiet < 100; n++)
    quiet = awake(&all) == 1 ? quiet + 1 : 0;
  REQUIRE(all >= THREADS && quiet == 100);
}

static sem_t held, freed;
static atomic_bool taken, returned;

/* The calling thread ends its task when another thread has begun one, which takes long. */
static void hold(void *caller, unsigned index) {
  (void)index;
  if (pthread_equal(pthread_self(), *(const pthread_t *)caller)) {
    while (!atomic_load(&taken))
      sched_yield();
    return;
  }
  atomic_store(&taken, true);
  sem_post(&held);
  while (sem_wait(&freed) != 0)
    ;
}

static void *call_once(void *argument) {
  (void)argument;
  pthread_t self = pthread_self();
  executor.run(executor.context, 2, hold, &self);
  atomic_store(&returned, true);
  pthread_testcancel();
  return NULL;
}

/* A thread that is cancelled while it waits for tasks of other threads goes on waiting: they use
 * its job. It ends at the next point after the call. */
static void cancelled(void) {
  pthread_t caller;
  void *result;
  REQUIRE(sem_init(&held, 0, 0) == 0 && sem_init(&freed, 0, 0) == 0);
  REQUIRE(pthread_create(&caller, NULL, call_once, NULL) == 0);
  while (sem_wait(&held) != 0)
    ;
  idle();
  REQUIRE(pthread_cancel(caller) == 0);
  idle();
  REQUIRE(!atomic_load(&returned));
  sem_post(&freed);
  REQUIRE(pthread_join(caller, &result) == 0);
  REQUIRE(atomic_load(&returned) && result == PTHREAD_CANCELED);
}

static void arguments(void) {
  gfsmith_pool *pool = (gfsmith_pool *)&executor;
  REQUIRE(gfsmith_pool_create(NULL, 2) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_pool_create(&pool, GFSMITH_POOL_MAX + 1) == GFSMITH_EINVAL && pool == NULL);
  REQUIRE(gfsmith_pool_executor(NULL) == NULL);
  gfsmith_pool_destroy(NULL);
  cpu_set_t allowed, one;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  REQUIRE(gfsmith_pool_create(&pool, 0) == GFSMITH_OK);
  REQUIRE(gfsmith_pool_executor(pool)->workers == (unsigned)CPU_COUNT(&allowed));
  gfsmith_pool_destroy(pool);
  CPU_ZERO(&one);
  for (size_t n = 0; n < CPU_SETSIZE && CPU_COUNT(&one) == 0; n++)
    if (CPU_ISSET(n, &allowed))
      CPU_SET(n, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  REQUIRE(gfsmith_pool_create(&pool, 0) == GFSMITH_OK);
  REQUIRE(gfsmith_pool_executor(pool)->workers == 1);
  gfsmith_pool_destroy(pool);
  REQUIRE(sched_setaffinity(0, sizeof allowed, &allowed) == 0);
}

int main(void) {
  gfsmith_pool *pool;
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", K, M) == GFSMITH_OK);
  REQUIRE(gfsmith_pool_create(&pool, THREADS) == GFSMITH_OK);
  executor = *gfsmith_pool_executor(pool);
  REQUIRE(executor.workers == THREADS && executor.least == 0);
  executor.least = 1024;
  signals();
  stacks();
  idle();
  many_callers();
  nested();
  cancelled();
  forked(pool);
  call_often((void *)9);
  arguments();
  gfsmith_pool_destroy(pool);
  gfsmith_codec_destroy(codec);
  puts("ok");
  return 0;
}
