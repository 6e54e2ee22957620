#include "openssl_use.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* A program that ends waits at most so long for the threads that use OpenSSL: one of them may have
 * been stopped, or may be the thread that ends the program, in a handler of a signal. */
enum { END_MS = 1000 };

static pthread_once_t begun = PTHREAD_ONCE_INIT;
static atomic_bool ended;
static atomic_uint users;
static _Atomic(pid_t) owner; /* the process of the users */

static void end_use(void) {
  atomic_store(&ended, true);
  for (unsigned ms = 0; ms < END_MS && atomic_load(&users) != 0 && atomic_load(&owner) == getpid();
       ms++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* OpenSSL calls end_use before it frees its data. */
static void begin_use(void) {
  if (OPENSSL_atexit(end_use) != 1)
    atomic_store(&ended, true);
}

/* A child has none of the threads of its parent. The functions of the C library that tell it of a
 * fork, or of its end, need start files, without which the shared library is linked. */
static void forget_parent(void) {
  pid_t own = getpid(), before = atomic_load(&owner);
  if (before != own && atomic_compare_exchange_strong(&owner, &before, own))
    atomic_store(&users, 0);
}

bool gfc_openssl_enter(void) {
  pthread_once(&begun, begin_use);
  forget_parent();
  atomic_fetch_add(&users, 1);
  if (!atomic_load(&ended))
    return true;
  gfc_openssl_leave();
  return false;
}

void gfc_openssl_leave(void) { atomic_fetch_sub(&users, 1); }
