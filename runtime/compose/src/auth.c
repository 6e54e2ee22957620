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

void gfc_random(void *to, size_t bytes) { randombytes_buf(to, bytes); }

/* Bytes of the body, 0: no such kind. */
static size_t body_bytes(unsigned kind) {
  static const size_t bytes[] = {[GFC_ASK] = GFC_NONCE_BYTES,
                                 [GFC_CHALLENGE] = GFC_NONCE_BYTES,
                                 [GFC_PROOF] = GFC_TICKET_BYTES + GFC_PROOF_BYTES,
                                 [GFC_WELCOME] = GFC_PROOF_BYTES,
                                 [GFC_REFUSAL] = 1};
  return kind < sizeof bytes / sizeof bytes[0] ? bytes[kind] : 0;
}

size_t gfc_greeting_write(uint8_t to[GFC_GREETING_MAX], const gfc_greeting *greeting) {
  const uint16_t head[4] = {htole16(greeting->kind), htole16(greeting->version),
                            htole16(greeting->rank), htole16(greeting->other)};
  size_t bytes = body_bytes(greeting->kind);
  memcpy(to, head, sizeof head);
  memcpy(to + sizeof head, greeting->body, bytes);
  return sizeof head + bytes;
}

bool gfc_greeting_read(gfc_greeting *greeting, const uint8_t *from, size_t bytes) {
  uint16_t head[4];
  if (bytes < sizeof head)
    return false;
  memcpy(head, from, sizeof head);
  *greeting =
      (gfc_greeting){le16toh(head[0]), le16toh(head[1]), le16toh(head[2]), le16toh(head[3]), {0}};
  size_t body = body_bytes(greeting->kind);
  if (body == 0 || bytes - sizeof head < body)
    return false;
  memcpy(greeting->body, from + sizeof head, body);
  return true;
}

void gfc_prove(const gfc_key *key, gfc_side side, const gfc_dialogue *dialogue,
               uint8_t proof[GFC_PROOF_BYTES]) {
  static const uint8_t label[] = "gfsmith-compose proof";
  const uint8_t who = (uint8_t)side;
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key->byte, key->bytes);
  crypto_auth_hmacsha256_update(&state, label, sizeof label);
  crypto_auth_hmacsha256_update(&state, &who, sizeof who);
  crypto_auth_hmacsha256_update(&state, dialogue->ask, sizeof dialogue->ask);
  crypto_auth_hmacsha256_update(&state, dialogue->challenge, sizeof dialogue->challenge);
  crypto_auth_hmacsha256_final(&state, proof);
  sodium_memzero(&state, sizeof state);
}

bool gfc_proved(const gfc_key *key, gfc_side side, const gfc_dialogue *dialogue,
                const uint8_t proof[GFC_PROOF_BYTES]) {
  uint8_t right[GFC_PROOF_BYTES];
  gfc_prove(key, side, dialogue, right);
  return crypto_verify_32(right, proof) == 0;
}
