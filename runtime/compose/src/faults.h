/* Injected faults, for tests: compiled in with GFSMITH_COMPOSE_FAULTS only. */
#ifndef GFC_FAULTS_H
#define GFC_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "gfsmith_compose.h"
#include "seal.h"

/* The faults in the frames and writes that a node sends. */
typedef enum gfc_fault {
  GFC_FAULT_NONE,
  GFC_FAULT_FLIP,     /* a bit of a message is wrong */
  GFC_FAULT_CUT,      /* a message is shorter than its header states */
  GFC_FAULT_DROP,     /* a message is left out */
  GFC_FAULT_NUMBER,   /* the number of a message is that of the one before */
  GFC_FAULT_CREDITS,  /* a message returns credits that were not given */
  GFC_FAULT_PAYLOAD,  /* a byte of a write was wrong before the write got its tag */
  GFC_FAULT_SILENT,   /* no further message is sent after these; the connection stays */
  GFC_FAULT_KEEPS,    /* no message returns credits */
  GFC_FAULT_PIECEWISE /* every piece of a write is posted separately */
} gfc_fault;

typedef struct gfc_faults {
#ifdef GFSMITH_COMPOSE_FAULTS
  int fault;      /* a gfc_fault, or none */
  unsigned after; /* number of messages or writes before the fault */
#else
  char none;
#endif
} gfc_faults;

#ifdef GFSMITH_COMPOSE_FAULTS
/* Change a frame that is about to be sent. @return the bytes to send; 0: none */
size_t gfc_fault_frame(gfc_faults *faults, const gfc_seal *seal, uint64_t number, uint8_t *frame,
                       size_t bytes);
/* @return a wrong copy to write in place of the first piece of a write, to be freed; NULL: no fault
 */
void *gfc_fault_write(gfc_faults *faults, const void *local, size_t bytes);
/* @return the number of pieces that one post may have */
size_t gfc_fault_pieces(const gfc_faults *faults, size_t pieces);
#else
#define gfc_fault_frame(faults, seal, number, frame, bytes) ((void)(faults), (bytes))
#define gfc_fault_write(faults, local, bytes) ((void)(faults), (void)(local), NULL)
#define gfc_fault_pieces(faults, pieces) ((void)(faults), (pieces))
#endif

#endif
