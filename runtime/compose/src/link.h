/* Links: authenticated connections to peers over libfabric message endpoints, one for each pair of nodes.
 *
 * Below: fabric.c (provider, domain, registration), link.c (one connection), auth.c (who may take part), loop.c (the
 * engine's thread). Above: operation.c and its neighbours, which are called from the engine's thread only, through
 * gfc_upper. Functions here are for the engine's thread, unless they say otherwise. */
#ifndef GFC_LINK_H
#define GFC_LINK_H

#include "gfsmith_compose.h"

/* The engine: what gfsmith_node has of this layer. */
typedef struct gfc_engine gfc_engine;

/* Memory known to the provider: what the local side of a transfer needs, and what a peer needs to write there. */
typedef struct gfc_registration {
  void *mr;          /* struct fid_mr *, NULL if the provider wants none */
  void *descriptor;  /* fi_mr_desc, or NULL */
  uint64_t key;      /* for the peer */
  uint64_t base;     /* the address that the peer uses: virtual, or 0 where the provider counts offsets */
} gfc_registration;

int gfc_register(gfc_engine *engine, void *memory, size_t bytes, gfc_registration *registration); /* any thread */
void gfc_unregister(gfc_registration *registration);                                              /* any thread */

/* Types of control messages that the upper layer defines are 32 to 255; those below are the links' own. */
enum { GFC_CONTROL_FIRST = 32 };

/* What the layer above is told. */
typedef struct gfc_upper {
  void (*up)(void *upper, uint16_t rank);
  void (*down)(void *upper, uint16_t rank, int status, const char *reason); /* after it nothing of the link arrives */
  void (*control)(void *upper, uint16_t rank, uint8_t type, const void *body, size_t bytes);
  void (*written)(void *upper, uint16_t rank, uint32_t data); /* a peer's write with this data has landed */
  void (*sent)(void *upper, void *context, int status);       /* a gfc_write is over */
  void (*deadline)(void *upper, void *context);               /* a timer of gfc_timer */
} gfc_upper;

/* Send a control message, in order with everything else on the link; body is copied, at most
 * GFSMITH_MESSAGE_MAX bytes. GFSMITH_EPEER without a link. */
int gfc_control(gfc_engine *engine, uint16_t rank, uint8_t type, const void *body, size_t bytes);

/* One piece of a write: local memory and where it goes at the peer. */
typedef struct gfc_piece {
  const void *local;
  size_t bytes;
  void *descriptor;       /* of the local memory */
  uint64_t remote, key;   /* at the peer */
} gfc_piece;

/* Write pieces into a peer's memory, in this order; then the peer is told `data`. `sent` is called once, with context,
 * when all memory may be used again, also if the link goes down. */
int gfc_write(gfc_engine *engine, uint16_t rank, const gfc_piece *piece, unsigned pieces, uint32_t data,
              void *context);

/* Have something run in the engine's thread, soon. Any thread; it wakes the engine. GFSMITH_ENOMEM. */
int gfc_run(gfc_engine *engine, void (*work)(void *upper, void *context), void *context);

/* Timers: call upper->deadline(context) once at `ms` of gfc_now, unless it is stopped before. */
uint64_t gfc_now(void); /* milliseconds of a clock that only goes forward; any thread */
int gfc_timer_start(gfc_engine *engine, uint64_t ms, void *context);
void gfc_timer_stop(gfc_engine *engine, void *context);

bool gfc_connected(const gfc_engine *engine, uint16_t rank); /* any thread */

#endif
