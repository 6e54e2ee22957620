#include "openssl_use.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* A program that ends waits at most so long for the threads that use OpenSSL: one of them may have
 * been stopped, or may be the thread that ends the program, in a handler of a signal. */
enum { END_MS = 1000 };

static pthread_once_t begun = PTHREAD_ONCE_INIT;
static atomic_bool ended;
static atomic_uint users;

static void end_use(void) {
  atomic_store(&ended, true);
  for (unsigned ms = 0; ms < END_MS && atomic_load(&users) != 0; ms++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* A child has none of the threads of its parent. */
static void forget_users(void) { atomic_store(&users, 0); }

/* Functions of atexit run in reverse order, so those of OpenSSL must be there before. Without an
 * option, OPENSSL_init_crypto may do nothing. */
static void begin_use(void) {
  if (OPENSSL_init_crypto(OPENSSL_INIT_ADD_ALL_CIPHERS, NULL) != 1 ||
      pthread_atfork(NULL, NULL, forget_users) != 0 || atexit(end_use) != 0)
    atomic_store(&ended, true);
}

bool gfc_openssl_enter(void) {
  pthread_once(&begun, begin_use);
  atomic_fetch_add(&users, 1);
  if (!atomic_load(&ended))
    return true;
  gfc_openssl_leave();
  return false;
}

void gfc_openssl_leave(void) { atomic_fetch_sub(&users, 1); }
