/* MD5 of the library Nettle. A build without Nettle has no MD5, and par2 refuses to run. */
#ifndef TOOL_MD5_H
#define TOOL_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { MD5_BYTES = 16 };

/* Room for Nettle's context, so that only md5.c includes its header. */
typedef struct md5 {
  uint64_t state[16];
} md5;

/* TOOL_REFUSED after a message if this build has no MD5. */
int md5_require(void);
void md5_begin(md5 *sum);
void md5_add(md5 *sum, const void *bytes, size_t size);
void md5_end(md5 *sum, uint8_t digest[MD5_BYTES]);

#endif
