/* Sessions: the keys of a link's traffic. They derive from the shared key and the greetings ASK and
 * CHALLENGE, with both nonces (HMAC-SHA256, then libsodium's crypto_kdf).
 *
 * After the shared key has been replaced, the session is renewed without a new connection. The side
 * that connected begins, with other nonces in the same greetings:
 *
 *   RENEW: the new shared key's name, ASK   ->
 *                                           <-  RENEWED: CHALLENGE, or nothing without this key
 *   SWITCH                                  ->
 *
 * Each side seals with the other session after its RENEWED or SWITCH has been posted, and expects
 * it after that of the peer. */
#ifndef GFC_SESSION_H
#define GFC_SESSION_H

#include "frame.h"
#include "handshake.h"

enum { GFC_RENEW_BYTES = GFC_KEY_NAME_BYTES + GFC_ASK_BYTES, GFC_RENEWED_BYTES = GFC_ASK_BYTES };

typedef enum gfc_renewal {
  GFC_SETTLED,
  GFC_ASKED,     /* RENEW was sent: RENEWED is awaited */
  GFC_ANSWERING, /* RENEWED or SWITCH is queued: once it is posted, `next` is used for sending */
  GFC_ANSWERED   /* RENEWED was posted: SWITCH is awaited */
} gfc_renewal;

typedef struct gfc_session {
  bool connects;                    /* is this the side that connected? */
  uint8_t name[GFC_KEY_NAME_BYTES]; /* of the shared key */
  gfc_seal send, receive;
  gfc_renewal renewal;
  gfc_key offered; /* during GFC_ASKED */
  gfc_dialogue dialogue;
  uint8_t next_name[GFC_KEY_NAME_BYTES]; /* from RENEWED until it is used in both directions */
  gfc_seal next_send, next_receive;
} gfc_session;

/* Begin the session of a connection, after the greetings. */
void gfc_session_open(gfc_session *session, bool connects, const gfc_key *key,
                      const gfc_dialogue *dialogue);
void gfc_session_close(gfc_session *session); /* erase the keys */

/* Does the session come from the current key, in both directions? */
bool gfc_session_current(const gfc_session *session, const gfc_handshake *own);
/* Should this side begin to renew the session now? */
bool gfc_session_stale(const gfc_session *session, const gfc_handshake *own);
/* Write the body of RENEW. */
void gfc_session_renew(gfc_session *session, const gfc_handshake *own, uint16_t peer,
                       uint8_t body[GFC_RENEW_BYTES]);
/* RENEW has arrived: write the body of RENEWED. @return its bytes, or -1: the peer violates the
 * protocol */
int gfc_session_answer(gfc_session *session, const gfc_handshake *own, uint16_t peer,
                       const gfc_frame *renew, uint8_t body[GFC_RENEWED_BYTES]);
/* RENEWED has arrived. False: the peer violates the protocol. *change: SWITCH must be sent. */
bool gfc_session_answered(gfc_session *session, const gfc_frame *renewed, bool *change);
/* SWITCH has arrived. False: as above. */
bool gfc_session_switched(gfc_session *session, const gfc_frame *received);
/* A frame of this type has been posted. */
void gfc_session_posted(gfc_session *session, uint8_t type);

#endif
