/* Greetings between two that do not know yet whom they have before them: auth.h says what is said.
 */
#ifndef GFC_HANDSHAKE_H
#define GFC_HANDSHAKE_H

#include <stdbool.h>

#include "auth.h"
#include "fabric.h"

struct gfc_connection;

/* Challenges that have not been answered yet, by who listens. */
enum { GFC_TICKETS = 256 };
typedef struct gfc_tickets {
  struct gfc_ticket {
    gfc_dialogue dialogue;
    uint64_t at; /* when it was given, 0: none; it is good for connect_ms, and once */
  } ticket[GFC_TICKETS];
} gfc_tickets;

/* Somebody wants to connect, and says this: refuse, or accept. `info` is libfabric's, and is freed.
 */
void gfc_knock(gfc_engine *engine, struct fi_info *info, const uint8_t *said, size_t bytes);
/* Our own words: ASK, for a connection that begins. @return bytes */
size_t gfc_ask(struct gfc_connection *connection, uint8_t to[GFC_GREETING_MAX]);
/* A refusal has come. @return bytes of PROOF, to connect anew with; 0: the connection is doomed */
size_t gfc_turned_down(struct gfc_connection *connection, int error, const uint8_t *said,
                       size_t bytes, uint8_t to[GFC_GREETING_MAX]);
/* An acceptance has come: is it from who it should be? */
bool gfc_welcomed(struct gfc_connection *connection, const uint8_t *said, size_t bytes);

#endif
