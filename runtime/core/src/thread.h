/* thread.h: threads, locks and conditions of the operating system: POSIX threads or Windows. C11
 * threads are not used: macOS and Windows lack them, and ThreadSanitizer does not follow them. */
#ifndef GFS_THREAD_H
#define GFS_THREAD_H

#if defined(GFSMITH_NO_THREADS)
#define GFS_HAS_THREADS 0
#elif defined(_WIN32) || defined(__unix__) || defined(__APPLE__)
#define GFS_HAS_THREADS 1
#else
#define GFS_HAS_THREADS 0
#endif

#include <stdbool.h>
#include <stdint.h>

#if GFS_HAS_THREADS

#if defined(_WIN32)
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>

typedef HANDLE gfs_thread_id;
typedef SRWLOCK gfs_lock;
typedef CONDITION_VARIABLE gfs_condition;
typedef INIT_ONCE gfs_once;
#define GFS_ONCE INIT_ONCE_STATIC_INIT

static inline bool gfs_lock_init(gfs_lock *lock) { return InitializeSRWLock(lock), true; }
static inline void gfs_lock_free(gfs_lock *lock) { (void)lock; }
static inline void gfs_lock_take(gfs_lock *lock) { AcquireSRWLockExclusive(lock); }
static inline void gfs_lock_release(gfs_lock *lock) { ReleaseSRWLockExclusive(lock); }
static inline bool gfs_condition_init(gfs_condition *c) {
  return InitializeConditionVariable(c), true;
}
static inline void gfs_condition_free(gfs_condition *c) { (void)c; }
static inline void gfs_condition_wait(gfs_condition *c, gfs_lock *lock) {
  SleepConditionVariableSRW(c, lock, INFINITE, 0);
}
static inline void gfs_condition_wake_one(gfs_condition *c) { WakeConditionVariable(c); }
static inline void gfs_condition_wake_all(gfs_condition *c) { WakeAllConditionVariable(c); }
static inline void gfs_once_run(gfs_once *once, void (*body)(void)) {
  BOOL pending;
  InitOnceBeginInitialize(once, 0, &pending, NULL);
  if (!pending)
    return;
  body();
  InitOnceComplete(once, 0, NULL);
}
#else
#include <pthread.h>

typedef pthread_t gfs_thread_id;
typedef pthread_mutex_t gfs_lock;
typedef pthread_cond_t gfs_condition;
typedef pthread_once_t gfs_once;
#define GFS_ONCE PTHREAD_ONCE_INIT

/* gfs_once_run: run body() in the first call with this object; other threads wait until it has
 * returned.
 *
 * With valid arguments and default attributes only the two init functions can fail. */
static inline bool gfs_lock_init(gfs_lock *lock) { return pthread_mutex_init(lock, NULL) == 0; }
static inline void gfs_lock_free(gfs_lock *lock) { pthread_mutex_destroy(lock); }
static inline void gfs_lock_take(gfs_lock *lock) { pthread_mutex_lock(lock); }
static inline void gfs_lock_release(gfs_lock *lock) { pthread_mutex_unlock(lock); }
static inline bool gfs_condition_init(gfs_condition *c) { return pthread_cond_init(c, NULL) == 0; }
static inline void gfs_condition_free(gfs_condition *c) { pthread_cond_destroy(c); }
static inline void gfs_condition_wait(gfs_condition *c, gfs_lock *lock) {
  pthread_cond_wait(c, lock);
}
static inline void gfs_condition_wake_one(gfs_condition *c) { pthread_cond_signal(c); }
static inline void gfs_condition_wake_all(gfs_condition *c) { pthread_cond_broadcast(c); }
static inline void gfs_once_run(gfs_once *once, void (*body)(void)) { pthread_once(once, body); }
#endif

/* A thread that runs body(argument). It must not move while the thread runs. */
typedef struct gfs_thread {
  gfs_thread_id id;
  void (*body)(void *argument);
  void *argument;
} gfs_thread;

/* Start a thread, which blocks all signals but those of its own accesses. False: the system has no
 * more threads. */
bool gfs_thread_start(gfs_thread *thread, void (*body)(void *argument), void *argument);
/* Wait for its end. */
void gfs_thread_join(gfs_thread *thread);

/* The number of CPUs that the process may use, at least 1. */
unsigned gfs_threads_processors(void);

/* A number of this process: a child after fork() has another one. */
long gfs_threads_process(void);

#else
typedef bool gfs_once;
#define GFS_ONCE false
static inline long gfs_threads_process(void) { return 0; }
static inline void gfs_once_run(gfs_once *once, void (*body)(void)) {
  if (!*once)
    body();
  *once = true;
}
#endif

/* Forbid the cancellation of the calling thread; return the argument for
 * `gfs_cancel_restore`. */
static inline int gfs_cancel_forbid(void) {
  int before = 0;
#if GFS_HAS_THREADS && defined(PTHREAD_CANCEL_DISABLE)
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
#endif
  return before;
}

static inline void gfs_cancel_restore(int before) {
  (void)before;
#if GFS_HAS_THREADS && defined(PTHREAD_CANCEL_DISABLE)
  pthread_setcancelstate(before, NULL);
#endif
}

#endif
