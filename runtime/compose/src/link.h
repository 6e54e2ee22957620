/* Links: authenticated connections to peers over libfabric message endpoints, one for each pair of
 * nodes. This header is the interface of the transport to the operations; engine.c implements it.
 *
 * The modules of the transport, each of which depends only on those above it:
 *
 * - timer, work_queue, status: timers, functions for the engine's thread, error descriptions
 * - seal, frame, handshake, session: formats of messages, authentication, and keys of links
 * - registration, link_types: data that the transport and the operations exchange
 * - fabric: provider, domain, registration of memory
 * - own_sockets, idle_sockets, faults: the sockets of the provider; connections of unknown programs
 *   that send nothing; faults injected by tests
 * - channel: the traffic of one connection in both directions, and its credits
 * - peer: the state of each rank: its connections, and when to connect again
 * - engine: the thread that runs all of this
 *
 * The operations call these functions, and the transport calls back through gfc_link_events.
 * Functions here are for the engine's thread, unless a comment states otherwise. */
#ifndef GFC_LINK_H
#define GFC_LINK_H

#include "gfsmith_compose.h"
#include "link_types.h"
#include "registration.h"
#include "timer.h"

typedef struct gfc_engine gfc_engine;

struct fid_cntr;   /* libfabric's counter */
struct fid_domain; /* and its domain */

/* Any thread. `counter` (may be NULL) counts the writes to this memory (FI_RMA_EVENT;
 * gfc_can_trigger). A write of a peer with a key that no longer exists takes the link down (tcp
 * closes the connection). GFSMITH_ENOMEM, GFSMITH_EFABRIC; *registration is cleared then. */
int gfc_register(gfc_engine *engine, void *memory, size_t bytes, unsigned purpose,
                 struct fid_cntr *counter, gfc_registration *registration);

/* Send a control message, in order with all other traffic of the link; body is copied, at most
 * GFSMITH_MESSAGE_MAX bytes. GFSMITH_EPEER without a link, GFSMITH_ENOMEM. */
int gfc_control(gfc_engine *engine, uint16_t rank, uint8_t type, const void *body, size_t bytes);
/* Take a link down because the peer has violated the protocol. `down` is called soon, with `status`
 * and `reason`. */
void gfc_drop(gfc_engine *engine, uint16_t rank, int status, const char *reason);

/* `sent` is called once with the context, never from within this call, also if the link goes down;
 * it is not called if this fails: GFSMITH_EPEER (no link), GFSMITH_ENOMEM. */
int gfc_write(gfc_engine *engine, uint16_t rank, const gfc_writing *writing);

/* Within `written`: is this the tag that the peer has computed for the write with these data and
 * this payload? Data that are not authentic were changed, exchanged or repeated on the way. */
bool gfc_authentic(const gfc_engine *engine, uint16_t rank, uint32_t data, const uint8_t *payload,
                   size_t bytes, const uint8_t *tag);
/* Do writes of peers have tags? Not if the provider may post writes (gfc_can_trigger). */
bool gfc_sealed(const gfc_engine *engine);

/* Run a function in the engine's thread, soon, in the order of the calls. Any thread; it wakes the
 * engine. GFSMITH_ENOMEM; GFSMITH_ECANCELED if the engine is ending. Accepted work always runs,
 * also at the end. */
int gfc_run(gfc_engine *engine, void (*work)(void *observer, void *context), void *context);

bool gfc_in_engine(const gfc_engine *engine); /* is this the engine's thread? Any thread */

/* Timers (timer.h) of the engine's thread; starting a running timer restarts it. */
gfc_timers *gfc_engine_timers(gfc_engine *engine);

bool gfc_connected(const gfc_engine *engine, uint16_t rank); /* any thread */
/* The reason why there is no link: the status of the last attempt or loss, GFSMITH_OK if there was
 * none or the link is up; its description is written to reason (GFSMITH_REASON_MAX bytes). */
int gfc_trouble(const gfc_engine *engine, uint16_t rank, char *reason);

/* Does the provider support triggered operations, with counters of writes to memory (FI_TRIGGER,
 * FI_RMA_EVENT)? */
bool gfc_can_trigger(const gfc_engine *engine);
struct fid_domain *gfc_domain(const gfc_engine *engine); /* to open counters */

#endif
