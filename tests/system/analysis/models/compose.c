/* Functions that the analysed ones call: time, formatted words, the memory of XXH3, and whether
 * OpenSSL may be used. */
#include <xxhash.h>

#include "../drivers/driver.h"
#include "openssl_use.h"
#include "status.h"
#include "timer.h"

XXH3_state_t *XXH3_createState(void) { return malloc(sizeof(XXH3_state_t)); }

XXH_errorcode XXH3_freeState(XXH3_state_t *state) {
  free(state);
  return XXH_OK;
}

uint64_t gfc_now(void) {
  uint64_t now;
  UNKNOWN(now);
  return now == 0 ? 1 : now;
}

void gfc_words(char *reason, const char *format, ...) {
  (void)format;
  if (reason == NULL)
    return;
  Frama_C_make_unknown(reason, GFSMITH_REASON_MAX);
  reason[GFSMITH_REASON_MAX - 1] = 0;
}

bool gfc_openssl_enter(void) {
  uint8_t entered;
  UNKNOWN(entered);
  return entered % 2 == 1;
}

void gfc_openssl_leave(void) {}
