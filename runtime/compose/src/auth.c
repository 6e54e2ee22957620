#include "auth.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

bool gfc_auth_init(void) { return sodium_init() >= 0; }

void gfc_key_set(gfc_key *key, const uint8_t *byte, size_t bytes) {
  memcpy(key->byte, byte, bytes);
  key->bytes = bytes;
}

void gfc_key_clear(gfc_key *key) { sodium_memzero(key, sizeof *key); }

void gfc_hello_write(uint8_t hello[GFC_HELLO_BYTES], uint16_t rank, uint16_t other) {
  uint16_t head[4] = {htole16(GFC_VERSION), htole16(rank), htole16(other), 0};
  memcpy(hello, head, sizeof head);
  randombytes_buf(hello + sizeof head, GFC_NONCE_BYTES);
}

gfc_hello gfc_hello_read(const uint8_t hello[GFC_HELLO_BYTES]) {
  uint16_t head[4];
  memcpy(head, hello, sizeof head);
  return (gfc_hello){le16toh(head[0]), le16toh(head[1]), le16toh(head[2])};
}

void gfc_prove(const gfc_key *key, gfc_side side, const uint8_t hello[GFC_HELLO_BYTES],
               const uint8_t challenge[GFC_HELLO_BYTES], uint8_t proof[GFC_PROOF_BYTES]) {
  static const uint8_t label[] = "gfsmith-compose proof";
  uint8_t who = (uint8_t)side;
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key->byte, key->bytes);
  crypto_auth_hmacsha256_update(&state, label, sizeof label);
  crypto_auth_hmacsha256_update(&state, &who, sizeof who);
  crypto_auth_hmacsha256_update(&state, hello, GFC_HELLO_BYTES);
  crypto_auth_hmacsha256_update(&state, challenge, GFC_HELLO_BYTES);
  crypto_auth_hmacsha256_final(&state, proof);
  sodium_memzero(&state, sizeof state);
}

bool gfc_proved(const gfc_key *key, gfc_side side, const uint8_t hello[GFC_HELLO_BYTES],
                const uint8_t challenge[GFC_HELLO_BYTES], const uint8_t proof[GFC_PROOF_BYTES]) {
  uint8_t right[GFC_PROOF_BYTES];
  gfc_prove(key, side, hello, challenge, right);
  return crypto_verify_32(right, proof) == 0;
}

uint64_t gfc_random(void) {
  uint64_t value;
  randombytes_buf(&value, sizeof value);
  return value;
}
