/* Links: authenticated connections to peers over libfabric message endpoints, one for each pair of
 * nodes.
 *
 * Below: fabric.c, register.c (provider, domain, registration), auth.c, handshake.c, gate.c (who
 * may take part, and strangers), connection.c (one connection), queue.c (what it sends, and
 * credits), receive.c (what it gets), peers.c (who connects, and when again), engine.c (the
 * thread). Above: operation.c, ending.c and their neighbours, which are called from the engine's
 * thread only, through gfc_upper. Functions here are for the engine's thread, unless they say
 * otherwise. */
#ifndef GFC_LINK_H
#define GFC_LINK_H

#include "gfsmith_compose.h"
#include "timer.h"

/* The engine: what gfsmith_node has of this layer. */
typedef struct gfc_engine gfc_engine;

struct fid_cntr;   /* libfabric's counter */
struct fid_domain; /* and its domain */

/* What memory is registered for. */
enum {
  GFC_SOURCE = 1, /* our writes read it */
  GFC_TARGET = 2  /* peers' writes go there */
};

/* Memory known to the provider: what the local side of a transfer needs, and what a peer needs to
 * write there. */
typedef struct gfc_registration {
  void *mr;         /* struct fid_mr *, NULL if the provider wants none */
  void *descriptor; /* fi_mr_desc, or NULL */
  uint64_t key;     /* for the peer; random where the provider lets us choose */
  uint64_t
      base; /* the address that the peer uses: virtual, or 0 where the provider counts offsets */
} gfc_registration;

/* Any thread. `counter` (may be NULL) counts the writes that land there (FI_RMA_EVENT;
 * gfc_can_trigger). A peer that writes to a key that is not there any more loses the link (tcp
 * closes the connection). GFSMITH_ENOMEM, GFSMITH_EFABRIC; *registration is cleared then. */
int gfc_register(gfc_engine *engine, void *memory, size_t bytes, unsigned purpose,
                 struct fid_cntr *counter, gfc_registration *registration);
void gfc_unregister(gfc_registration *registration); /* any thread; a cleared one is allowed */

/* Types of control messages that the upper layer defines are 32 to 255; those below are the links'
 * own. */
enum { GFC_CONTROL_FIRST = 32 };

/* What the layer above is told. */
typedef struct gfc_upper {
  void (*up)(void *upper, uint16_t rank);
  void (*down)(void *upper, uint16_t rank, int status,
               const char *reason); /* after it nothing of the link arrives */
  void (*control)(void *upper, uint16_t rank, uint8_t type, const void *body, size_t bytes);
  void (*written)(void *upper, uint16_t rank,
                  uint32_t data); /* a peer's write with this data has landed */
  void (*sent)(void *upper, void *context, int status); /* a gfc_write is over */
  void (*stop)(void *upper); /* the node is being destroyed: end what is under way. `sent` and
                                `down` still come */
} gfc_upper;

/* Send a control message, in order with everything else on the link; body is copied, at most
 * GFSMITH_MESSAGE_MAX bytes. GFSMITH_EPEER without a link, GFSMITH_ENOMEM. */
int gfc_control(gfc_engine *engine, uint16_t rank, uint8_t type, const void *body, size_t bytes);
/* Take a link down: the peer did what no honest peer does (`status` and `reason` are what `down` is
 * told, soon). */
void gfc_drop(gfc_engine *engine, uint16_t rank, int status, const char *reason);

/* One piece of a write: local memory and where it goes at the peer. */
typedef struct gfc_piece {
  const void *local;
  size_t bytes;         /* 0 allowed: nothing is written */
  void *descriptor;     /* of the local memory */
  uint64_t remote, key; /* at the peer */
} gfc_piece;

enum { GFC_PIECES_MAX = 4 };

/* Write pieces into a peer's memory, in this order and in order with everything else on the link;
 * then the peer is told `data`. */
typedef struct gfc_writing {
  const gfc_piece *piece; /* copied */
  unsigned pieces;        /* 1 to GFC_PIECES_MAX */
  uint32_t data;
  bool delivered; /* `sent` waits until it has landed; else until the local memory may be used again
                   */
  struct fid_cntr
      *counter;       /* not NULL: the provider waits until this counter (gfc_can_trigger) ... */
  uint64_t threshold; /* ... has reached this; what is sent later may overtake it then */
  void *context;
} gfc_writing;

/* upper->sent is called once with the context, never from within this call, also if the link goes
 * down; not at all if this fails: GFSMITH_EPEER (no link), GFSMITH_ENOMEM. */
int gfc_write(gfc_engine *engine, uint16_t rank, const gfc_writing *writing);

/* Have something run in the engine's thread, soon, in the order of the calls. Any thread; it wakes
 * the engine. GFSMITH_ENOMEM; GFSMITH_ECANCELED if the engine is ending. What is accepted runs,
 * also at the end. */
int gfc_run(gfc_engine *engine, void (*work)(void *upper, void *context), void *context);

bool gfc_in_engine(const gfc_engine *engine); /* is this its thread? Any thread */

/* Timers (timer.h) run in the engine's thread; start one that is running: it is set anew. */
gfc_timers *gfc_engine_timers(gfc_engine *engine);

bool gfc_connected(const gfc_engine *engine, uint16_t rank); /* any thread */
/* Why there is no link: the status of the last attempt or loss, GFSMITH_OK if there is none or the
 * link is up; words to reason (GFSMITH_REASON_MAX bytes). */
int gfc_trouble(const gfc_engine *engine, uint16_t rank, char *reason);

/* Does the provider trigger operations, with counters that count writes into memory (FI_TRIGGER,
 * FI_RMA_EVENT)? */
bool gfc_can_trigger(const gfc_engine *engine);
struct fid_domain *gfc_domain(const gfc_engine *engine); /* to open counters */

#endif
