#include "table.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

unsigned table_hash(const void *key, size_t bytes) {
  static uint8_t secret[crypto_shorthash_KEYBYTES];
  static bool drawn;
  uint8_t hash[crypto_shorthash_BYTES];
  unsigned first;
  if (!drawn)
    randombytes_buf(secret, sizeof secret);
  drawn = true;
  crypto_shorthash(hash, key, bytes,
                   secret); /* SipHash: its results tell nothing about the secret */
  memcpy(&first, hash, sizeof first);
  return first;
}
