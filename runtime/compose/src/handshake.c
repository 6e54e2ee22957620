#include "handshake.h"

#include <rdma/fi_cm.h>
#include <string.h>

#include "engine.h"

/* Why somebody is refused, as the byte of REFUSAL says it. */
enum { WHY_VERSION = 1, WHY_RANK = 2, WHY_KEY = 3, WHY_LATE = 4 };

/* The oldest one goes for a new one if all are given. */
static struct gfc_ticket *new_ticket(gfc_tickets *tickets) {
  struct gfc_ticket *oldest = &tickets->ticket[0];
  for (unsigned i = 1; i < GFC_TICKETS; i++)
    if (tickets->ticket[i].at < oldest->at)
      oldest = &tickets->ticket[i];
  return oldest;
}

static const uint8_t *nonce_of(const struct gfc_ticket *ticket) {
  return ticket->dialogue.challenge + GFC_ASK_BYTES - GFC_NONCE_BYTES;
}

static struct gfc_ticket *find_ticket(gfc_engine *engine, const uint8_t name[GFC_TICKET_BYTES]) {
  uint64_t now = gfc_now();
  for (unsigned i = 0; i < GFC_TICKETS; i++) {
    struct gfc_ticket *ticket = &engine->tickets.ticket[i];
    if (ticket->at != 0 && now - ticket->at <= engine->connect_ms &&
        memcmp(nonce_of(ticket), name, GFC_TICKET_BYTES) == 0)
      return ticket;
  }
  return NULL;
}

static void reject(gfc_engine *engine, struct fi_info *info, const gfc_greeting *greeting) {
  uint8_t said[GFC_GREETING_MAX];
  size_t bytes = gfc_greeting_write(said, greeting);
  fi_reject(engine->fabric.pep, info->handle, said, bytes);
  fi_freeinfo(info);
}

static void refuse(gfc_engine *engine, struct fi_info *info, uint16_t other, uint8_t why) {
  gfc_greeting greeting = {GFC_REFUSAL, GFC_VERSION, engine->rank, other, {why}};
  reject(engine, info, &greeting);
}

static void challenge(gfc_engine *engine, struct fi_info *info, const gfc_greeting *asked,
                      const uint8_t *said) {
  struct gfc_ticket *ticket = new_ticket(&engine->tickets);
  gfc_greeting greeting = {GFC_CHALLENGE, GFC_VERSION, engine->rank, asked->rank, {0}};
  gfc_random(greeting.body, GFC_NONCE_BYTES);
  uint8_t written[GFC_GREETING_MAX];
  gfc_greeting_write(written, &greeting);
  memcpy(ticket->dialogue.ask, said, GFC_ASK_BYTES);
  memcpy(ticket->dialogue.challenge, written, GFC_ASK_BYTES);
  ticket->at = gfc_now();
  reject(engine, info, &greeting);
}

/* Is it right? `welcome` is what to say then. */
static bool right(gfc_engine *engine, struct gfc_ticket *ticket, const gfc_greeting *proof,
                  gfc_greeting *welcome) {
  gfc_greeting asked = {0};
  gfc_dialogue dialogue = ticket->dialogue;
  ticket->at = 0;
  gfc_greeting_read(&asked, dialogue.ask, sizeof dialogue.ask);
  if (asked.rank != proof->rank ||
      !gfc_proved(&engine->key, GFC_CONNECTS, &dialogue, proof->body + GFC_TICKET_BYTES))
    return false;
  *welcome = (gfc_greeting){GFC_WELCOME, GFC_VERSION, engine->rank, proof->rank, {0}};
  gfc_prove(&engine->key, GFC_LISTENS, &dialogue, welcome->body);
  return true;
}

static void check(gfc_engine *engine, struct fi_info *info, const gfc_greeting *proof) {
  struct gfc_ticket *ticket = find_ticket(engine, proof->body);
  gfc_peer *peer = gfc_peer_get(engine, proof->rank);
  gfc_greeting welcome;
  if (ticket == NULL || peer == NULL) {
    refuse(engine, info, proof->rank, WHY_LATE);
  } else if (!right(engine, ticket, proof, &welcome)) {
    gfc_peer_lost(peer, GFSMITH_EAUTH, "who says to be this peer does not know the key");
    refuse(engine, info, proof->rank, WHY_KEY);
  } else {
    uint8_t said[GFC_GREETING_MAX];
    size_t bytes = gfc_greeting_write(said, &welcome);
    gfc_accept(peer, info, said, bytes);
  }
}

void gfc_knock(gfc_engine *engine, struct fi_info *info, const uint8_t *said, size_t bytes) {
  gfc_greeting greeting;
  if (!gfc_greeting_read(&greeting, said, bytes) || greeting.version != GFC_VERSION)
    refuse(engine, info, 0, WHY_VERSION);
  else if (greeting.other != engine->rank || greeting.rank <= engine->rank ||
           greeting.rank >= GFSMITH_RANKS_MAX)
    refuse(engine, info, greeting.rank, WHY_RANK);
  else if (greeting.kind == GFC_ASK)
    challenge(engine, info, &greeting, said);
  else if (greeting.kind == GFC_PROOF)
    check(engine, info, &greeting);
  else
    refuse(engine, info, greeting.rank, WHY_VERSION);
}

size_t gfc_ask(gfc_connection *connection, uint8_t to[GFC_GREETING_MAX]) {
  gfc_greeting greeting = {
      GFC_ASK, GFC_VERSION, connection->engine->rank, connection->peer->rank, {0}};
  gfc_random(greeting.body, GFC_NONCE_BYTES);
  size_t bytes = gfc_greeting_write(to, &greeting);
  memcpy(connection->dialogue.ask, to, sizeof connection->dialogue.ask);
  return bytes;
}

static bool from_peer(const gfc_connection *connection, const gfc_greeting *greeting) {
  return greeting->version == GFC_VERSION && greeting->rank == connection->peer->rank &&
         greeting->other == connection->engine->rank;
}

static size_t prove(gfc_connection *connection, const gfc_greeting *challenged, const uint8_t *said,
                    uint8_t to[GFC_GREETING_MAX]) {
  gfc_greeting proof = {
      GFC_PROOF, GFC_VERSION, connection->engine->rank, connection->peer->rank, {0}};
  memcpy(connection->dialogue.challenge, said, sizeof connection->dialogue.challenge);
  memcpy(proof.body, challenged->body, GFC_TICKET_BYTES);
  gfc_prove(&connection->engine->key, GFC_CONNECTS, &connection->dialogue,
            proof.body + GFC_TICKET_BYTES);
  return gfc_greeting_write(to, &proof);
}

size_t gfc_turned_down(gfc_connection *connection, int error, const uint8_t *said, size_t bytes,
                       uint8_t to[GFC_GREETING_MAX]) {
  static const char *const words[] = {[WHY_VERSION] =
                                          "the peer speaks another version of the protocol",
                                      [WHY_RANK] = "the peer has another rank",
                                      [WHY_KEY] = "the peer says that our key is wrong"};
  gfc_greeting greeting;
  if (!gfc_greeting_read(&greeting, said, bytes)) {
    gfc_doom(connection, GFSMITH_EPEER, "no connection: %s", fi_strerror(error));
  } else if (greeting.kind == GFC_REFUSAL) {
    uint8_t why = greeting.body[0];
    bool known = why >= WHY_VERSION && why <= WHY_KEY;
    gfc_doom(connection, known ? GFSMITH_EAUTH : GFSMITH_EPEER, "%s",
             known ? words[why] : "the peer was asked by too many");
  } else if (greeting.kind != GFC_CHALLENGE || !from_peer(connection, &greeting) ||
             connection->state != GFC_ASKING) {
    gfc_doom(connection, GFSMITH_EAUTH, "version %u, rank %u answers, not version %d, rank %u",
             greeting.version, greeting.rank, GFC_VERSION, connection->peer->rank);
  } else {
    return prove(connection, &greeting, said, to);
  }
  return 0;
}

bool gfc_welcomed(gfc_connection *connection, const uint8_t *said, size_t bytes) {
  gfc_greeting greeting;
  return connection->state == GFC_PROVING && gfc_greeting_read(&greeting, said, bytes) &&
         greeting.kind == GFC_WELCOME && from_peer(connection, &greeting) &&
         gfc_proved(&connection->engine->key, GFC_LISTENS, &connection->dialogue, greeting.body);
}
