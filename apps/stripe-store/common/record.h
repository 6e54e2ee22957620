/* Metadata of a value, stored on m + 1 chunk servers. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "message.h"

#include <stddef.h>
#include <string.h>

enum { RECORD_KEY_MAX = 250, RECORD_FIXED = 48, RECORD_MAX = RECORD_FIXED + RECORD_KEY_MAX };
enum { RECORD_VALUE_MAX = 1 << 30 }; /* bytes of the largest value of any store */

/* As length: the value is lost, because too few of its chunks were left. */
#define RECORD_LOST UINT64_MAX

typedef struct record {
  uint64_t version;
  uint64_t length;   /* bytes of the value */
  uint64_t checksum; /* XXH3-64 of the value, seeded with the version */
  int64_t expires;   /* absolute time in seconds, 0: never */
  uint32_t flags;    /* set by the client */
  uint8_t key_bytes;
  char key[RECORD_KEY_MAX]; /* in allocated memory perhaps only key_bytes of them */
} record;

static inline size_t record_bytes(const record *r) { return offsetof(record, key) + r->key_bytes; }
static inline void record_copy(record *to, const record *from) {
  memcpy(to, from, record_bytes(from));
}

/* Return the bytes written, at most RECORD_MAX. */
size_t record_encode(const record *r, uint8_t *bytes);
/* False: damaged, or of a value that no store has. */
bool record_decode(record *r, const uint8_t *bytes, size_t length);

#endif
