#include "handshake.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

#include "status.h"
#include "timer.h"

/* ---- greetings ---- */

enum {
  ASK = 1,       /* body: a nonce */
  CHALLENGE = 2, /* a nonce */
  PROOF = 3,     /* the ticket, a proof */
  WELCOME = 4,   /* a proof */
  REFUSAL = 5    /* a byte: the reason */
};

/* The reasons for a refusal, as the byte of REFUSAL. */
enum { WHY_VERSION = 1, WHY_RANK = 2, WHY_KEY = 3, WHY_LATE = 4 };

/* Little-endian: kind, version, the rank of the sender, the rank that the sender takes the other
 * for (2 bytes each), the body. */
typedef struct greeting {
  uint16_t kind, version, rank, other;
  uint8_t body[GFC_GREETING_MAX - 8];
} greeting;

/* Bytes of the body; 0: there is no such kind. */
static size_t body_bytes(unsigned kind) {
  static const size_t bytes[] = {[ASK] = GFC_NONCE_BYTES,
                                 [CHALLENGE] = GFC_NONCE_BYTES,
                                 [PROOF] = GFC_TICKET_BYTES + GFC_PROOF_BYTES,
                                 [WELCOME] = GFC_PROOF_BYTES,
                                 [REFUSAL] = 1};
  return kind < sizeof bytes / sizeof bytes[0] ? bytes[kind] : 0;
}

static void write_greeting(gfc_reply *to, const greeting *said) {
  const uint16_t head[4] = {htole16(said->kind), htole16(said->version), htole16(said->rank),
                            htole16(said->other)};
  size_t bytes = body_bytes(said->kind);
  memcpy(to->data, head, sizeof head);
  memcpy(to->data + sizeof head, said->body, bytes);
  to->bytes = sizeof head + bytes;
}

/* False: the message is too short or not a greeting. Some providers append bytes. */
static bool read_greeting(greeting *said, const uint8_t *from, size_t bytes) {
  uint16_t head[4];
  if (bytes < sizeof head)
    return false;
  memcpy(head, from, sizeof head);
  *said = (greeting){le16toh(head[0]), le16toh(head[1]), le16toh(head[2]), le16toh(head[3]), {0}};
  size_t body = body_bytes(said->kind);
  if (body == 0 || bytes - sizeof head < body)
    return false;
  memcpy(said->body, from + sizeof head, body);
  return true;
}

/* ---- proofs ---- */

typedef enum side { CONNECTS = 1, LISTENS = 2 } side;

static void prove(const gfc_key *key, side who, const gfc_dialogue *dialogue,
                  uint8_t proof[GFC_PROOF_BYTES]) {
  static const uint8_t label[] = "gfsmith-compose proof";
  const uint8_t byte = (uint8_t)who;
  _Static_assert(GFC_PROOF_BYTES == crypto_auth_hmacsha256_BYTES, "a proof is a whole code");
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key->byte, key->bytes);
  crypto_auth_hmacsha256_update(&state, label, sizeof label);
  crypto_auth_hmacsha256_update(&state, &byte, sizeof byte);
  crypto_auth_hmacsha256_update(&state, dialogue->ask, sizeof dialogue->ask);
  crypto_auth_hmacsha256_update(&state, dialogue->challenge, sizeof dialogue->challenge);
  crypto_auth_hmacsha256_final(&state, proof);
  sodium_memzero(&state, sizeof state);
}

/* In constant time. */
static bool proved(const gfc_key *key, side who, const gfc_dialogue *dialogue,
                   const uint8_t proof[GFC_PROOF_BYTES]) {
  uint8_t right[GFC_PROOF_BYTES];
  prove(key, who, dialogue, right);
  return crypto_verify_32(right, proof) == 0;
}

/* No proof is a root, because the labels differ. */
void gfc_handshake_root(const gfc_key *key, const gfc_dialogue *dialogue,
                        uint8_t root[GFC_ROOT_BYTES]) {
  static const uint8_t label[] = "gfsmith-compose session";
  crypto_auth_hmacsha256_state state;
  _Static_assert(GFC_ROOT_BYTES == crypto_auth_hmacsha256_BYTES, "a root is a whole code");
  crypto_auth_hmacsha256_init(&state, key->byte, key->bytes);
  crypto_auth_hmacsha256_update(&state, label, sizeof label);
  crypto_auth_hmacsha256_update(&state, dialogue->ask, sizeof dialogue->ask);
  crypto_auth_hmacsha256_update(&state, dialogue->challenge, sizeof dialogue->challenge);
  crypto_auth_hmacsha256_final(&state, root);
  sodium_memzero(&state, sizeof state);
}

/* ---- the node's own part ---- */

bool gfc_handshake_init(void) { return sodium_init() >= 0; }

void gfc_key_set(gfc_key *key, const uint8_t *byte, size_t bytes) {
  static const uint8_t label[] = "gfsmith-compose name";
  uint8_t name[crypto_auth_hmacsha256_BYTES];
  crypto_auth_hmacsha256_state state;
  sodium_memzero(key, sizeof *key);
  if (bytes == 0)
    return;
  memcpy(key->byte, byte, bytes);
  key->bytes = bytes;
  crypto_auth_hmacsha256_init(&state, byte, bytes);
  crypto_auth_hmacsha256_update(&state, label, sizeof label);
  crypto_auth_hmacsha256_final(&state, name);
  memcpy(key->name, name, sizeof key->name);
  sodium_memzero(&state, sizeof state);
}

void gfc_handshake_keys(gfc_handshake *own, const gfc_key *current, const gfc_key *previous) {
  own->current = *current;
  own->previous = *previous;
}

void gfc_handshake_open(gfc_handshake *own, const gfsmith_node_options *options) {
  gfc_key_set(&own->current, options->key, options->key_bytes);
  own->rank = options->rank;
  own->connect_ms = options->connect_ms;
}

void gfc_handshake_close(gfc_handshake *own) {
  sodium_memzero(&own->current, sizeof own->current);
  sodium_memzero(&own->previous, sizeof own->previous);
}

const gfc_key *gfc_handshake_key(const gfc_handshake *own, const uint8_t name[GFC_KEY_NAME_BYTES]) {
  if (memcmp(own->current.name, name, GFC_KEY_NAME_BYTES) == 0)
    return &own->current;
  if (own->previous.bytes != 0 && memcmp(own->previous.name, name, GFC_KEY_NAME_BYTES) == 0)
    return &own->previous;
  return NULL;
}

/* ---- the side that connects ---- */

void gfc_handshake_ask(const gfc_handshake *own, uint16_t peer, gfc_dialogue *dialogue,
                       gfc_reply *ask) {
  greeting said = {ASK, GFC_VERSION, own->rank, peer, {0}};
  randombytes_buf(said.body, GFC_NONCE_BYTES);
  write_greeting(ask, &said);
  memcpy(dialogue->ask, ask->data, sizeof dialogue->ask);
}

static bool from_peer(const gfc_handshake *own, const gfc_attempt *attempt, const greeting *said) {
  return said->version == GFC_VERSION && said->rank == attempt->peer && said->other == own->rank;
}

static void answer_challenge(const gfc_handshake *own, gfc_attempt *attempt, const greeting *asked,
                             const uint8_t *data, gfc_reply *reply) {
  greeting said = {PROOF, GFC_VERSION, own->rank, attempt->peer, {0}};
  attempt->challenged = true;
  memcpy(attempt->dialogue.challenge, data, sizeof attempt->dialogue.challenge);
  memcpy(said.body, asked->body, GFC_TICKET_BYTES);
  prove(&attempt->key, CONNECTS, &attempt->dialogue, said.body + GFC_TICKET_BYTES);
  write_greeting(reply, &said);
}

int gfc_handshake_prove(const gfc_handshake *own, gfc_attempt *attempt, const gfc_heard *heard,
                        const char *error, gfc_reply *proof, char *reason) {
  static const char *const words[] = {[WHY_VERSION] =
                                          "the peer uses another version of the protocol",
                                      [WHY_RANK] = "the peer has another rank",
                                      [WHY_KEY] = "the peer reports that our key is wrong"};
  greeting said;
  if (!read_greeting(&said, heard->data, heard->bytes)) {
    gfc_words(reason, "no connection: %s", error);
    return GFSMITH_EPEER;
  }
  if (said.kind == REFUSAL) {
    uint8_t why = said.body[0];
    bool known = why >= WHY_VERSION && why <= WHY_KEY;
    gfc_words(reason, "%s", known ? words[why] : "the peer has too many requests");
    return known ? GFSMITH_EAUTH : GFSMITH_EPEER;
  }
  if (said.kind != CHALLENGE || !from_peer(own, attempt, &said) || attempt->challenged) {
    gfc_words(reason, "version %u, rank %u answers, not version %d, rank %u", said.version,
              said.rank, GFC_VERSION, attempt->peer);
    return GFSMITH_EAUTH;
  }
  answer_challenge(own, attempt, &said, heard->data, proof);
  return GFSMITH_OK;
}

bool gfc_handshake_welcomed(const gfc_handshake *own, const gfc_attempt *attempt,
                            const gfc_heard *heard) {
  greeting said;
  return attempt->challenged && read_greeting(&said, heard->data, heard->bytes) &&
         said.kind == WELCOME && from_peer(own, attempt, &said) &&
         proved(&attempt->key, LISTENS, &attempt->dialogue, said.body);
}

/* ---- the side that listens ---- */

static gfc_verdict refuse(const gfc_handshake *own, uint16_t other, uint8_t why, gfc_reply *reply) {
  greeting said = {REFUSAL, GFC_VERSION, own->rank, other, {why}};
  write_greeting(reply, &said);
  return GFC_REJECT;
}

void gfc_handshake_refuse_late(const gfc_handshake *own, uint16_t rank, gfc_reply *reply) {
  refuse(own, rank, WHY_LATE, reply);
}

/* A free ticket; if all are in use, the oldest one is revoked. */
static gfc_ticket *new_ticket(gfc_handshake *own) {
  gfc_ticket *oldest = &own->ticket[0];
  for (unsigned i = 1; i < GFC_TICKETS; i++)
    if (own->ticket[i].at < oldest->at)
      oldest = &own->ticket[i];
  return oldest;
}

static const uint8_t *nonce_of(const gfc_ticket *ticket) {
  return ticket->dialogue.challenge + GFC_ASK_BYTES - GFC_NONCE_BYTES;
}

static gfc_ticket *find_ticket(gfc_handshake *own, const uint8_t name[GFC_TICKET_BYTES]) {
  uint64_t now = gfc_now();
  for (unsigned i = 0; i < GFC_TICKETS; i++) {
    gfc_ticket *ticket = &own->ticket[i];
    if (ticket->at != 0 && now - ticket->at <= own->connect_ms &&
        memcmp(nonce_of(ticket), name, GFC_TICKET_BYTES) == 0)
      return ticket;
  }
  return NULL;
}

static void challenge(const gfc_handshake *own, uint16_t peer, const uint8_t *ask,
                      gfc_dialogue *dialogue, gfc_reply *reply) {
  greeting said = {CHALLENGE, GFC_VERSION, own->rank, peer, {0}};
  randombytes_buf(said.body, GFC_NONCE_BYTES);
  write_greeting(reply, &said);
  memcpy(dialogue->ask, ask, GFC_ASK_BYTES);
  memcpy(dialogue->challenge, reply->data, GFC_ASK_BYTES);
}

static gfc_verdict give_ticket(gfc_handshake *own, uint16_t peer, const uint8_t *ask,
                               gfc_reply *reply) {
  gfc_ticket *ticket = new_ticket(own);
  challenge(own, peer, ask, &ticket->dialogue, reply);
  ticket->at = gfc_now();
  return GFC_REJECT;
}

bool gfc_handshake_answer(const gfc_handshake *own, uint16_t peer, const gfc_heard *ask,
                          gfc_dialogue *dialogue, gfc_reply *reply) {
  greeting said;
  if (!read_greeting(&said, ask->data, ask->bytes) || said.kind != ASK ||
      said.version != GFC_VERSION || said.rank != peer || said.other != own->rank)
    return false;
  challenge(own, peer, ask->data, dialogue, reply);
  return true;
}

/* The key with which the peer has made its proof, or NULL. */
static const gfc_key *proving_key(const gfc_handshake *own, const gfc_dialogue *dialogue,
                                  const uint8_t *proof) {
  if (proved(&own->current, CONNECTS, dialogue, proof))
    return &own->current;
  if (own->previous.bytes != 0 && proved(&own->previous, CONNECTS, dialogue, proof))
    return &own->previous;
  return NULL;
}

/* Is the proof valid? Then write WELCOME. The ticket cannot be used again. */
static bool use_ticket(const gfc_handshake *own, gfc_ticket *ticket, const greeting *proof,
                       gfc_reply *reply, gfc_admission *admission) {
  greeting asked = {0};
  admission->dialogue = ticket->dialogue;
  ticket->at = 0;
  read_greeting(&asked, admission->dialogue.ask, GFC_ASK_BYTES);
  admission->key = proving_key(own, &admission->dialogue, proof->body + GFC_TICKET_BYTES);
  if (asked.rank != proof->rank || admission->key == NULL)
    return false;
  greeting welcome = {WELCOME, GFC_VERSION, own->rank, proof->rank, {0}};
  prove(admission->key, LISTENS, &admission->dialogue, welcome.body);
  write_greeting(reply, &welcome);
  return true;
}

static gfc_verdict check_proof(gfc_handshake *own, const greeting *proof, gfc_reply *reply,
                               gfc_admission *admission) {
  gfc_ticket *ticket = find_ticket(own, proof->body);
  if (ticket == NULL)
    return refuse(own, proof->rank, WHY_LATE, reply);
  if (use_ticket(own, ticket, proof, reply, admission))
    return GFC_ADMIT;
  refuse(own, proof->rank, WHY_KEY, reply);
  return GFC_REJECT_WRONG_KEY;
}

gfc_verdict gfc_handshake_judge(gfc_handshake *own, const gfc_heard *heard, uint16_t *rank,
                                gfc_reply *reply, gfc_admission *admission) {
  greeting said;
  if (!read_greeting(&said, heard->data, heard->bytes) || said.version != GFC_VERSION)
    return refuse(own, 0, WHY_VERSION, reply);
  if (said.other != own->rank || said.rank <= own->rank || said.rank >= GFSMITH_RANKS_MAX)
    return refuse(own, said.rank, WHY_RANK, reply);
  *rank = said.rank;
  if (said.kind == ASK)
    return give_ticket(own, said.rank, heard->data, reply);
  if (said.kind == PROOF)
    return check_proof(own, &said, reply, admission);
  return refuse(own, said.rank, WHY_VERSION, reply);
}
