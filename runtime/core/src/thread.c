#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "thread.h"

#if GFS_HAS_THREADS
#if defined(_WIN32)

static DWORD WINAPI thread_main(void *of) {
  gfs_thread *thread = of;
  thread->body(thread->argument);
  return 0;
}

bool gfs_thread_start(gfs_thread *thread, void (*body)(void *argument), void *argument) {
  thread->body = body;
  thread->argument = argument;
  thread->id = CreateThread(NULL, 0, thread_main, thread, 0, NULL);
  return thread->id != NULL;
}

void gfs_thread_join(gfs_thread *thread) {
  WaitForSingleObject(thread->id, INFINITE);
  CloseHandle(thread->id);
}

unsigned gfs_threads_processors(void) {
  DWORD_PTR own, system;
  unsigned count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &own, &system))
    for (; own != 0; own &= own - 1)
      count++;
  return count > 0 ? count : 1;
}

long gfs_threads_process(void) { return 0; }

#else
#include <signal.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

static void *thread_main(void *of) {
  gfs_thread *thread = of;
  thread->body(thread->argument);
  return NULL;
}

/* The least stack of a thread: calls take up to 80 KiB, and a program may have chosen less for its
 * own threads. Some C libraries put the thread-local variables of all libraries there, too. */
enum { STACK_LEAST = 1 << 20 };

static bool create_thread(gfs_thread *thread) {
  pthread_attr_t how;
  size_t stack;
  if (pthread_attr_init(&how) != 0)
    return false;
  bool started = pthread_attr_getstacksize(&how, &stack) == 0 &&
                 (stack >= STACK_LEAST || pthread_attr_setstacksize(&how, STACK_LEAST) == 0) &&
                 pthread_create(&thread->id, &how, thread_main, thread) == 0;
  pthread_attr_destroy(&how);
  return started;
}

#if defined(SIG_SETMASK)
/* All signals but those that an access of the thread itself causes: if one of these is blocked, the
 * system ends the program, though it may have a handler that repairs the access. */
static void fill_mask_of_thread(sigset_t *mask) {
  static const int own[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  sigfillset(mask);
  for (unsigned n = 0; n < sizeof own / sizeof own[0]; n++)
    sigdelset(mask, own[n]);
}
#endif

/* SIG_SETMASK and CPU_COUNT are missing if the sources are compiled as strict C11 after another
 * header, because _GNU_SOURCE came too late; the thread does not block signals then. */
bool gfs_thread_start(gfs_thread *thread, void (*body)(void *argument), void *argument) {
  thread->body = body;
  thread->argument = argument;
#if defined(SIG_SETMASK)
  sigset_t mask, before;
  fill_mask_of_thread(&mask);
  pthread_sigmask(SIG_SETMASK, &mask, &before); /* the new thread inherits the mask */
#endif
  bool started = create_thread(thread);
#if defined(SIG_SETMASK)
  pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
  return started;
}

void gfs_thread_join(gfs_thread *thread) { pthread_join(thread->id, NULL); }

unsigned gfs_threads_processors(void) {
#if defined(CPU_COUNT)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) /* fails with more than 1024 CPUs */
    return (unsigned)CPU_COUNT(&set);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

long gfs_threads_process(void) { return (long)getpid(); }

#endif
#else
typedef int gfs_threads_none; /* a translation unit must not be empty */
#endif
