#include "md5.h"

#include <string.h>

#include "report.h"

#if defined(GFSMITH_NETTLE)
#include <nettle/md5.h>
#include <nettle/version.h>

_Static_assert(sizeof(struct md5_ctx) <= sizeof(md5), "the context of Nettle has room");

int md5_require(void) { return TOOL_OK; }

void md5_begin(md5 *sum) { md5_init((struct md5_ctx *)sum->state); }

void md5_add(md5 *sum, const void *bytes, size_t size) {
  md5_update((struct md5_ctx *)sum->state, size, bytes);
}

void md5_end(md5 *sum, uint8_t digest[MD5_BYTES]) {
#if NETTLE_VERSION_MAJOR >= 4
  md5_digest((struct md5_ctx *)sum->state, digest);
#else
  md5_digest((struct md5_ctx *)sum->state, MD5_BYTES, digest);
#endif
}

#else

int md5_require(void) {
  return refuse("this build has no MD5, which par2 needs: build it with Nettle (nettle-dev)");
}

void md5_begin(md5 *sum) { memset(sum, 0, sizeof *sum); }

void md5_add(md5 *sum, const void *bytes, size_t size) {
  (void)sum;
  (void)bytes;
  (void)size;
}

void md5_end(md5 *sum, uint8_t digest[MD5_BYTES]) {
  (void)sum;
  memset(digest, 0, MD5_BYTES);
}

#endif
