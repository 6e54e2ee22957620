#include "session.h"

#include <sodium.h>
#include <string.h>

/* The numbers of the derived keys: the direction away from the side that connected comes first. */
enum { FRAMES = 1, WRITES = 2, BACK = 2 };

static void derive_seal(gfc_seal *seal, unsigned first, const uint8_t root[crypto_kdf_KEYBYTES]) {
  static const char context[crypto_kdf_CONTEXTBYTES] = "gfc link";
  crypto_kdf_derive_from_key(seal->frames, sizeof seal->frames, first + FRAMES, context, root);
  crypto_kdf_derive_from_key(seal->writes, sizeof seal->writes, first + WRITES, context, root);
}

static void derive(bool connects, const gfc_key *key, const gfc_dialogue *dialogue, gfc_seal *send,
                   gfc_seal *receive) {
  uint8_t root[crypto_kdf_KEYBYTES];
  gfc_handshake_root(key, dialogue, root);
  derive_seal(connects ? send : receive, 0, root);
  derive_seal(connects ? receive : send, BACK, root);
  sodium_memzero(root, sizeof root);
}

void gfc_session_open(gfc_session *session, bool connects, const gfc_key *key,
                      const gfc_dialogue *dialogue) {
  session->connects = connects;
  memcpy(session->name, key->name, sizeof session->name);
  derive(connects, key, dialogue, &session->send, &session->receive);
}

void gfc_session_close(gfc_session *session) { sodium_memzero(session, sizeof *session); }

static bool has_key(const gfc_session *session, const gfc_key *key) {
  return memcmp(session->name, key->name, sizeof session->name) == 0;
}

bool gfc_session_current(const gfc_session *session, const gfc_handshake *own) {
  return session->renewal == GFC_SETTLED && has_key(session, &own->current);
}

bool gfc_session_stale(const gfc_session *session, const gfc_handshake *own) {
  return session->connects && session->renewal == GFC_SETTLED && !has_key(session, &own->current);
}

void gfc_session_renew(gfc_session *session, const gfc_handshake *own, uint16_t peer,
                       uint8_t body[GFC_RENEW_BYTES]) {
  gfc_reply ask;
  session->renewal = GFC_ASKED;
  session->offered = own->current;
  gfc_handshake_ask(own, peer, &session->dialogue, &ask);
  memcpy(body, session->offered.name, GFC_KEY_NAME_BYTES);
  memcpy(body + GFC_KEY_NAME_BYTES, ask.data, GFC_ASK_BYTES);
}

/* Derive the keys of the next session. */
static void prepare(gfc_session *session, const gfc_key *key) {
  memcpy(session->next_name, key->name, sizeof session->next_name);
  derive(session->connects, key, &session->dialogue, &session->next_send, &session->next_receive);
  session->renewal = GFC_ANSWERING;
}

static void use_for_receiving(gfc_session *session) {
  memcpy(session->name, session->next_name, sizeof session->name);
  session->receive = session->next_receive;
}

int gfc_session_answer(gfc_session *session, const gfc_handshake *own, uint16_t peer,
                       const gfc_frame *renew, uint8_t body[GFC_RENEWED_BYTES]) {
  if (session->connects || session->renewal != GFC_SETTLED || renew->bytes != GFC_RENEW_BYTES)
    return -1;
  const gfc_key *key = gfc_handshake_key(own, renew->body);
  gfc_reply challenge;
  gfc_heard ask = {renew->body + GFC_KEY_NAME_BYTES, GFC_ASK_BYTES};
  if (!gfc_handshake_answer(own, peer, &ask, &session->dialogue, &challenge))
    return -1;
  if (key == NULL)
    return 0;
  memcpy(body, challenge.data, GFC_RENEWED_BYTES);
  prepare(session, key);
  return GFC_RENEWED_BYTES;
}

bool gfc_session_answered(gfc_session *session, const gfc_frame *renewed, bool *change) {
  *change = renewed->bytes == GFC_RENEWED_BYTES;
  if (session->renewal != GFC_ASKED || (!*change && renewed->bytes != 0))
    return false;
  session->renewal = GFC_SETTLED;
  if (*change) {
    memcpy(session->dialogue.challenge, renewed->body, GFC_RENEWED_BYTES);
    prepare(session, &session->offered);
    use_for_receiving(session);
  }
  sodium_memzero(&session->offered, sizeof session->offered);
  return true;
}

bool gfc_session_switched(gfc_session *session, const gfc_frame *received) {
  if (session->renewal != GFC_ANSWERED || received->bytes != 0)
    return false;
  use_for_receiving(session);
  session->renewal = GFC_SETTLED;
  return true;
}

void gfc_session_posted(gfc_session *session, uint8_t type) {
  if (session->renewal != GFC_ANSWERING || (type != GFC_RENEWED && type != GFC_SWITCH))
    return;
  session->send = session->next_send;
  session->renewal = type == GFC_SWITCH ? GFC_SETTLED : GFC_ANSWERED;
}
