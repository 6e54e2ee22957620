/* Who may take part: whoever knows the key. What is said about that is said in the data that
 * libfabric's connection requests, refusals and acceptances carry, before there is an endpoint: of
 * a peer that has not proved itself the provider reads nothing else.
 *
 *   who connects                     who listens
 *   request  ASK: a nonce       ->
 *                               <-   refusal     CHALLENGE: a nonce (or REFUSAL: why)
 *   request  PROOF              ->
 *                               <-   acceptance  WELCOME: its proof (or a refusal with REFUSAL)
 *
 * A proof is HMAC-SHA256, with the key, of a label, of the side that proves, of ASK and of
 * CHALLENGE, which have version, both ranks and both nonces: it is good for these two, this
 * direction and one connection only. */
#ifndef GFC_AUTH_H
#define GFC_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gfsmith_compose.h"

enum {
  GFC_VERSION = 1,
  GFC_NONCE_BYTES = 32,
  GFC_PROOF_BYTES = 32,
  GFC_TICKET_BYTES = 8,                                     /* the nonce of CHALLENGE begins so */
  GFC_ASK_BYTES = 8 + GFC_NONCE_BYTES,                      /* CHALLENGE has as many */
  GFC_GREETING_MAX = 8 + GFC_TICKET_BYTES + GFC_PROOF_BYTES /* verbs has room for 56 */
};

typedef struct gfc_key {
  uint8_t byte[GFSMITH_KEY_MAX];
  size_t bytes;
} gfc_key;

/* Get ready; may be called again. False: there are no random bytes. */
bool gfc_auth_init(void);
void gfc_key_set(gfc_key *key, const uint8_t *byte, size_t bytes);
void gfc_key_clear(gfc_key *key);
void gfc_random(void *to, size_t bytes);

typedef enum gfc_greeting_kind {
  GFC_ASK = 1,       /* body: a nonce */
  GFC_CHALLENGE = 2, /* a nonce */
  GFC_PROOF = 3,     /* the ticket, a proof */
  GFC_WELCOME = 4,   /* a proof */
  GFC_REFUSAL = 5    /* a byte: why */
} gfc_greeting_kind;

/* Little-endian: kind, version, rank of who says it, the rank that it takes the other for (2 bytes
 * each), the body. */
typedef struct gfc_greeting {
  uint16_t kind, version, rank, other;
  uint8_t body[GFC_GREETING_MAX - 8];
} gfc_greeting;

/* @return its bytes */
size_t gfc_greeting_write(uint8_t to[GFC_GREETING_MAX], const gfc_greeting *greeting);
/* False: it is too short, or no greeting. Some providers add bytes at the end. */
bool gfc_greeting_read(gfc_greeting *greeting, const uint8_t *from, size_t bytes);

/* Both sides of it, as they were sent. */
typedef struct gfc_dialogue {
  uint8_t ask[GFC_ASK_BYTES], challenge[GFC_ASK_BYTES];
} gfc_dialogue;
typedef enum gfc_side { GFC_CONNECTS = 1, GFC_LISTENS = 2 } gfc_side;

void gfc_prove(const gfc_key *key, gfc_side side, const gfc_dialogue *dialogue,
               uint8_t proof[GFC_PROOF_BYTES]);
/* In constant time. */
bool gfc_proved(const gfc_key *key, gfc_side side, const gfc_dialogue *dialogue,
                const uint8_t proof[GFC_PROOF_BYTES]);

#endif
