/* Messages before a connection is up: who it is, and that he knows the key. auth.h has the
 * protocol. */
#include <string.h>

#include "connection.h"
#include "engine.h"

/* Why a connection is refused, as its byte says it. */
enum { REFUSED_VERSION = 1, REFUSED_RANK = 2, REFUSED_KEY = 3 };

static void send_frame(gfc_connection *connection, gfc_type type, const void *body, size_t bytes) {
  if (gfc_enqueue(connection, (uint8_t)type, body, bytes, NULL) != GFSMITH_OK)
    gfc_doom(connection, GFSMITH_ENOMEM, "no memory for the handshake");
}

static void refuse(gfc_connection *connection, uint8_t why, const char *reason) {
  connection->state = GFC_REFUSING;
  connection->status = GFSMITH_EAUTH;
  gfc_words(connection->reason, "%s", reason);
  send_frame(connection, GFC_REFUSED, &why, sizeof why);
}

void gfc_greet(gfc_connection *connection) {
  if (connection->state != GFC_CONNECTING)
    return;
  connection->state = GFC_GREETING;
  if (!connection->ours)
    return;
  gfc_hello_write(connection->hello, connection->engine->rank, connection->peer->rank);
  send_frame(connection, GFC_HELLO, connection->hello, sizeof connection->hello);
}

static void got_hello(gfc_connection *connection, const gfc_frame *frame) {
  gfc_engine *engine = connection->engine;
  memcpy(connection->hello, frame->body, sizeof connection->hello);
  gfc_hello hello = gfc_hello_read(connection->hello);
  if (hello.version != GFC_VERSION) {
    refuse(connection, REFUSED_VERSION, "somebody speaks another version of the protocol");
    return;
  }
  if (hello.other != engine->rank || hello.rank <= engine->rank ||
      hello.rank >= GFSMITH_RANKS_MAX) {
    refuse(connection, REFUSED_RANK, "somebody takes this node for another rank");
    return;
  }
  connection->peer = gfc_peer_get(engine, hello.rank);
  if (connection->peer == NULL) {
    gfc_doom(connection, GFSMITH_ENOMEM, "no memory for a peer");
    return;
  }
  gfc_hello_write(connection->challenge, engine->rank, hello.rank);
  connection->state = GFC_PROVING;
  send_frame(connection, GFC_CHALLENGE, connection->challenge, sizeof connection->challenge);
}

static void send_proof(gfc_connection *connection, gfc_side side) {
  uint8_t proof[GFC_PROOF_BYTES];
  gfc_prove(&connection->engine->key, side, connection->hello, connection->challenge, proof);
  send_frame(connection, GFC_PROOF, proof, sizeof proof);
}

static void got_challenge(gfc_connection *connection, const gfc_frame *frame) {
  memcpy(connection->challenge, frame->body, sizeof connection->challenge);
  gfc_hello challenge = gfc_hello_read(connection->challenge);
  if (challenge.version != GFC_VERSION || challenge.rank != connection->peer->rank ||
      challenge.other != connection->engine->rank) {
    gfc_doom(connection, GFSMITH_EAUTH,
             "version %u, rank %u answers in place of version %d, rank %u", challenge.version,
             challenge.rank, GFC_VERSION, connection->peer->rank);
    return;
  }
  connection->state = GFC_PROVING;
  send_proof(connection, GFC_CONNECTS);
}

static void got_proof(gfc_connection *connection, const gfc_frame *frame) {
  gfc_side side = connection->ours ? GFC_ACCEPTS : GFC_CONNECTS;
  bool right = gfc_proved(&connection->engine->key, side, connection->hello, connection->challenge,
                          frame->body);
  if (!right && connection->ours) {
    gfc_doom(connection, GFSMITH_EAUTH, "the peer does not know the key");
    return;
  }
  if (!right) {
    refuse(connection, REFUSED_KEY, "who says to be the peer does not know the key");
    return;
  }
  if (!connection->ours)
    send_proof(connection, GFC_ACCEPTS);
  if (connection->state == GFC_DOWN)
    return;
  connection->state = GFC_PROVED;
}

static void got_refused(gfc_connection *connection, const gfc_frame *frame) {
  static const char *const words[] = {[REFUSED_VERSION] =
                                          "the peer speaks another version of the protocol",
                                      [REFUSED_RANK] = "the peer has another rank",
                                      [REFUSED_KEY] = "the peer says that our key is wrong"};
  uint8_t why = frame->body[0];
  gfc_doom(connection, GFSMITH_EAUTH, "%s",
           why >= REFUSED_VERSION && why <= REFUSED_KEY ? words[why] : "the peer refuses");
}

void gfc_handshake(gfc_connection *connection, const gfc_frame *frame) {
  gfc_state state = connection->state;
  bool ours = connection->ours;
  if (state == GFC_REFUSING)
    return;
  if (frame->type == GFC_HELLO && frame->bytes == GFC_HELLO_BYTES && state == GFC_GREETING && !ours)
    got_hello(connection, frame);
  else if (frame->type == GFC_CHALLENGE && frame->bytes == GFC_HELLO_BYTES &&
           state == GFC_GREETING && ours)
    got_challenge(connection, frame);
  else if (frame->type == GFC_PROOF && frame->bytes == GFC_PROOF_BYTES && state == GFC_PROVING)
    got_proof(connection, frame);
  else if (frame->type == GFC_REFUSED && frame->bytes == 1 && ours)
    got_refused(connection, frame);
  else
    gfc_doom(connection, GFSMITH_EAUTH, "a message of type %u before the proof", frame->type);
}
