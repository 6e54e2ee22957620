/* Who may take part: whoever knows the key.
 *
 * The side that connects sends HELLO, the other answers with CHALLENGE, each with its version, its
 * rank, the rank that it takes the other for, and 32 random bytes. Then the side that connects
 * proves that it knows the key, and, only if that is right, the other. A proof is HMAC-SHA256, with
 * the key, of a label, of the side that proves, of HELLO and of CHALLENGE: it is good for these two
 * ranks, this direction and this connection only. */
#ifndef GFC_AUTH_H
#define GFC_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gfsmith_compose.h"

enum { GFC_VERSION = 1, GFC_NONCE_BYTES = 32, GFC_HELLO_BYTES = 8 + 32, GFC_PROOF_BYTES = 32 };

typedef struct gfc_key {
  uint8_t byte[GFSMITH_KEY_MAX];
  size_t bytes;
} gfc_key;

typedef enum gfc_side { GFC_CONNECTS = 1, GFC_ACCEPTS = 2 } gfc_side;

/* Get ready; may be called again. False: there are no random bytes. */
bool gfc_auth_init(void);
void gfc_key_set(gfc_key *key, const uint8_t *byte, size_t bytes);
void gfc_key_clear(gfc_key *key);

/* HELLO or CHALLENGE: 8 bytes version, rank, the other's rank, 0, then a fresh nonce. */
void gfc_hello_write(uint8_t hello[GFC_HELLO_BYTES], uint16_t rank, uint16_t other);
typedef struct gfc_hello {
  uint16_t version, rank, other;
} gfc_hello;
gfc_hello gfc_hello_read(const uint8_t hello[GFC_HELLO_BYTES]);

void gfc_prove(const gfc_key *key, gfc_side side, const uint8_t hello[GFC_HELLO_BYTES],
               const uint8_t challenge[GFC_HELLO_BYTES], uint8_t proof[GFC_PROOF_BYTES]);
/* In constant time. */
bool gfc_proved(const gfc_key *key, gfc_side side, const uint8_t hello[GFC_HELLO_BYTES],
                const uint8_t challenge[GFC_HELLO_BYTES], const uint8_t proof[GFC_PROOF_BYTES]);

uint64_t gfc_random(void);

#endif
