#include "record.h"

#include <string.h>
#include <xxhash.h>

/* Version, length, checksum, expires: 8 bytes each; flags: 4; length of the key: 4; checksum of all
 * other bytes: 8; key. Little-endian. */
enum { SUM_AT = 40 };

static uint64_t sum(const uint8_t *bytes, size_t length) {
  return XXH3_64bits_withSeed(bytes + RECORD_FIXED, length - RECORD_FIXED,
                              XXH3_64bits(bytes, SUM_AT));
}

size_t record_encode(const record *r, uint8_t *bytes) {
  size_t length = (size_t)RECORD_FIXED + r->key_bytes;
  put_le(bytes, r->version, 8);
  put_le(bytes + 8, r->length, 8);
  put_le(bytes + 16, r->checksum, 8);
  put_le(bytes + 24, (uint64_t)r->expires, 8);
  put_le(bytes + 32, r->flags, 4);
  put_le(bytes + 36, r->key_bytes, 4);
  memcpy(bytes + RECORD_FIXED, r->key, r->key_bytes);
  put_le(bytes + SUM_AT, sum(bytes, length), 8);
  return length;
}

bool record_decode(record *r, const uint8_t *bytes, size_t length) {
  if (length <= RECORD_FIXED || length > RECORD_MAX ||
      get_le(bytes + 36, 4) != length - RECORD_FIXED ||
      get_le(bytes + SUM_AT, 8) != sum(bytes, length))
    return false;
  r->version = get_le(bytes, 8);
  r->length = get_le(bytes + 8, 8);
  r->checksum = get_le(bytes + 16, 8);
  r->expires = (int64_t)get_le(bytes + 24, 8);
  r->flags = (uint32_t)get_le(bytes + 32, 4);
  r->key_bytes = (uint8_t)(length - RECORD_FIXED);
  memcpy(r->key, bytes + RECORD_FIXED, r->key_bytes);
  return r->length <= RECORD_VALUE_MAX || r->length == RECORD_LOST;
}
