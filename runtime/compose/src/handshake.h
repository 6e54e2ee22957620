/* The handshake: only a peer that has the key is admitted. Both sides prove it in the data of
 * libfabric's connection requests, refusals and acceptances, before an endpoint exists: the
 * provider reads no other data of a peer without proof.
 *
 *   the side that connects           the side that listens
 *   request  ASK: a nonce       ->
 *                               <-   refusal     CHALLENGE: a nonce (or REFUSAL: why)
 *   request  PROOF              ->
 *                               <-   acceptance  WELCOME: its proof (or a refusal with REFUSAL)
 *
 * A proof is the HMAC-SHA256, with the key, of a label, of the proving side, of ASK and of
 * CHALLENGE, which contain the version, both ranks and both nonces: a proof is valid for these two
 * nodes, this direction and one connection only.
 *
 * The functions here compute messages but do not send them; peer.c sends. */
#ifndef GFC_HANDSHAKE_H
#define GFC_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gfsmith_compose.h"

enum {
  GFC_VERSION = 2,
  GFC_NONCE_BYTES = 32,
  GFC_PROOF_BYTES = 32,
  GFC_ROOT_BYTES = 32,
  GFC_KEY_NAME_BYTES = 8,
  GFC_TICKET_BYTES = 8,                /* the first bytes of CHALLENGE's nonce */
  GFC_ASK_BYTES = 8 + GFC_NONCE_BYTES, /* CHALLENGE has the same size */
  GFC_GREETING_MAX = 8 + GFC_TICKET_BYTES + GFC_PROOF_BYTES /* verbs has room for 56 */
};

typedef struct gfc_key {
  uint8_t byte[GFSMITH_KEY_MAX];
  size_t bytes;                     /* 0: there is no key */
  uint8_t name[GFC_KEY_NAME_BYTES]; /* derived from it; not secret */
} gfc_key;

/* ASK and CHALLENGE as sent. */
typedef struct gfc_dialogue {
  uint8_t ask[GFC_ASK_BYTES], challenge[GFC_ASK_BYTES];
} gfc_dialogue;

/* A challenge of the listening side that has not been answered yet. */
enum { GFC_TICKETS = 256 };
typedef struct gfc_ticket {
  gfc_dialogue dialogue;
  uint64_t at; /* time at which it was given, 0: none; it is valid once, for connect_ms */
} gfc_ticket;

/* The node's own part in all handshakes. */
typedef struct gfc_handshake {
  gfc_key current, previous; /* both are accepted */
  uint16_t rank;
  unsigned connect_ms;
  gfc_ticket ticket[GFC_TICKETS];
} gfc_handshake;

/* The connecting side of one handshake. */
typedef struct gfc_attempt {
  uint16_t peer;   /* its rank */
  gfc_key key;     /* the one that is proved */
  bool challenged; /* has CHALLENGE arrived? */
  gfc_dialogue dialogue;
} gfc_attempt;

/* A received greeting, as passed by libfabric, and a greeting to send. */
typedef struct gfc_heard {
  const uint8_t *data;
  size_t bytes;
} gfc_heard;
typedef struct gfc_reply {
  uint8_t data[GFC_GREETING_MAX];
  size_t bytes;
} gfc_reply;

/* Start libsodium; may be called again. False: no source of random bytes. */
bool gfc_handshake_init(void);
/* Set keys, rank and connect_ms from the options; `own` is zero before. */
void gfc_handshake_open(gfc_handshake *own, const gfsmith_node_options *options);
/* Set a key from its bytes, 0: none. */
void gfc_key_set(gfc_key *key, const uint8_t *byte, size_t bytes);
/* Replace the keys. */
void gfc_handshake_keys(gfc_handshake *own, const gfc_key *current, const gfc_key *previous);
/* Erase the keys. */
void gfc_handshake_close(gfc_handshake *own);
/* The key with this name, or NULL. */
const gfc_key *gfc_handshake_key(const gfc_handshake *own, const uint8_t name[GFC_KEY_NAME_BYTES]);
/* Derive the root of a session's keys from a key and both greetings. */
void gfc_handshake_root(const gfc_key *key, const gfc_dialogue *dialogue,
                        uint8_t root[GFC_ROOT_BYTES]);

/* ---- the side that connects ---- */

/* Write ASK, the first greeting. */
void gfc_handshake_ask(const gfc_handshake *own, uint16_t peer, gfc_dialogue *dialogue,
                       gfc_reply *ask);
/* The provider has reported a refusal, described by `error`. If it is the CHALLENGE, write PROOF.
 * @return GFSMITH_OK, or the status of the failure with the reason (GFSMITH_REASON_MAX bytes) */
int gfc_handshake_prove(const gfc_handshake *own, gfc_attempt *attempt, const gfc_heard *heard,
                        const char *error, gfc_reply *proof, char *reason);
/* After PROOF an acceptance has arrived. Is it a WELCOME of a peer that has the key? */
bool gfc_handshake_welcomed(const gfc_handshake *own, const gfc_attempt *attempt,
                            const gfc_heard *heard);

/* ---- the side that listens ---- */

/* A peer that was admitted. */
typedef struct gfc_admission {
  const gfc_key *key; /* the one that it has proved; valid until the keys are replaced */
  gfc_dialogue dialogue;
} gfc_admission;

typedef enum gfc_verdict {
  GFC_REJECT,           /* refuse with the reply: CHALLENGE or REFUSAL */
  GFC_REJECT_WRONG_KEY, /* the same, and the node that claims this rank does not have the key */
  GFC_ADMIT             /* accept with the reply: WELCOME */
} gfc_verdict;

/* Judge a connection request. `rank`: the rank that it claims, valid unless the verdict is
 * GFC_REJECT. `admission` is written with GFC_ADMIT. */
gfc_verdict gfc_handshake_judge(gfc_handshake *own, const gfc_heard *heard, uint16_t *rank,
                                gfc_reply *reply, gfc_admission *admission);
/* Answer an ASK of a peer on its authenticated link with CHALLENGE. False: it is no ASK of this
 * peer. */
bool gfc_handshake_answer(const gfc_handshake *own, uint16_t peer, const gfc_heard *ask,
                          gfc_dialogue *dialogue, gfc_reply *challenge);
/* The refusal for a peer that could not be served in time. */
void gfc_handshake_refuse_late(const gfc_handshake *own, uint16_t rank, gfc_reply *reply);

#endif
