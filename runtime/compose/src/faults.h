/* Faults on purpose, for tests: compiled in with GFSMITH_COMPOSE_FAULTS only. */
#ifndef GFC_FAULTS_H
#define GFC_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "gfsmith_compose.h"

/* What can be done to what a node sends. */
typedef enum gfc_fault {
  GFC_FAULT_NONE,
  GFC_FAULT_FLIP,     /* a bit of a message is wrong, its checksum is not */
  GFC_FAULT_CUT,      /* a message is shorter than it says */
  GFC_FAULT_DROP,     /* a message is left out */
  GFC_FAULT_MAGIC,    /* a message does not begin as one; the checksum is right */
  GFC_FAULT_CREDITS,  /* a message returns credits that nobody has given */
  GFC_FAULT_PAYLOAD,  /* a byte of a write is wrong */
  GFC_FAULT_SILENT,   /* no message is sent any more after these; the connection stays */
  GFC_FAULT_PIECEWISE /* every piece of a write is one of its own */
} gfc_fault;

typedef struct gfc_faults {
#ifdef GFSMITH_COMPOSE_FAULTS
  int fault;      /* a gfc_fault, or none */
  unsigned after; /* this many messages (writes) from now */
#else
  char none;
#endif
} gfc_faults;

#ifdef GFSMITH_COMPOSE_FAULTS
/* Do this to the message, or write, that is sent after `after` others. Any thread. */
GFSMITH_API int gfsmith_node_fault(gfsmith_node *node, int fault, unsigned after);
/* Ask a peer that was silent for `ask` milliseconds, give it up after `silent`; for links that come
 * up later. */
GFSMITH_API int gfsmith_node_patience(gfsmith_node *node, unsigned ask, unsigned silent);
/* A frame is about to be sent. @return the bytes to send; 0: none */
size_t gfc_fault_frame(gfc_faults *faults, uint8_t *frame, size_t bytes);
/* A write is about to be sent. @return what to write in place of its first piece, to be freed;
 * NULL: that itself */
void *gfc_fault_write(gfc_faults *faults, const void *local, size_t bytes);
size_t gfc_fault_pieces(const gfc_faults *faults, size_t pieces);
#else
#define gfc_fault_frame(faults, frame, bytes) ((void)(faults), (bytes))
#define gfc_fault_write(faults, local, bytes) ((void)(faults), (void)(local), NULL)
#define gfc_fault_pieces(faults, pieces) ((void)(faults), (pieces))
#endif

#endif
