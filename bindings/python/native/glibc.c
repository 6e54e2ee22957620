/* glibc.c: functions of POSIX threads under the versions of old C libraries, so that one wheel
 * works with all of them. glibc 2.34 moved these functions from libpthread into libc and gave them
 * new versions (pthread_sigmask: 2.32), which the linker of a newer system prefers; the old
 * versions still exist there. An interpreter on an older system has loaded libpthread. setup.py
 * passes
 * --wrap for these functions; in other C libraries they have no versions. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sigset_t */
#endif
#include <pthread.h>
#include <signal.h>

typedef void *thread_body(void *);
int __wrap_pthread_attr_getstacksize(const pthread_attr_t *how, size_t *bytes);
int __wrap_pthread_attr_setstacksize(pthread_attr_t *how, size_t bytes);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, thread_body *body,
                          void *argument);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);

#if defined(__GLIBC__) && defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#elif defined(__GLIBC__) && defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#endif
#if defined(FIRST)
#define OLD(name) gfs_first_##name
#define BIND(name) __asm__(".symver gfs_first_" #name ", " #name "@" FIRST)
BIND(pthread_attr_getstacksize);
BIND(pthread_attr_setstacksize);
BIND(pthread_create);
BIND(pthread_join);
BIND(pthread_sigmask);
#else
#define OLD(name) __real_##name
#endif

int OLD(pthread_attr_getstacksize)(const pthread_attr_t *how, size_t *bytes);
int OLD(pthread_attr_setstacksize)(pthread_attr_t *how, size_t bytes);
int OLD(pthread_create)(pthread_t *thread, const pthread_attr_t *how, thread_body *body,
                        void *argument);
int OLD(pthread_join)(pthread_t thread, void **result);
int OLD(pthread_sigmask)(int how, const sigset_t *set, sigset_t *before);

int __wrap_pthread_attr_getstacksize(const pthread_attr_t *how, size_t *bytes) {
  return OLD(pthread_attr_getstacksize)(how, bytes);
}

int __wrap_pthread_attr_setstacksize(pthread_attr_t *how, size_t bytes) {
  return OLD(pthread_attr_setstacksize)(how, bytes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, thread_body *body,
                          void *argument) {
  return OLD(pthread_create)(thread, how, body, argument);
}

int __wrap_pthread_join(pthread_t thread, void **result) {
  return OLD(pthread_join)(thread, result);
}

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
  return OLD(pthread_sigmask)(how, set, before);
}
