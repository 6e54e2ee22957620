/* Injected faults, for tests. In other builds this file is empty. */
#include "faults.h"

#ifdef GFSMITH_COMPOSE_FAULTS

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Does the fault apply to this frame or write? Then it is used up. */
static bool now(gfc_faults *faults) {
  if (faults->after-- != 0)
    return false;
  faults->fault = GFC_FAULT_NONE;
  return true;
}

static void seal(const gfc_seal *seal, uint64_t number, uint8_t *frame, size_t bytes) {
  gfc_seal_frame(seal, number, frame + GFC_TAG_BYTES, bytes - GFC_TAG_BYTES, frame);
}

size_t gfc_fault_frame(gfc_faults *faults, const gfc_seal *with, uint64_t number, uint8_t *frame,
                       size_t bytes) {
  enum { NUMBER = 16, CREDITS = 28 };
  int fault = faults->fault;
  if (fault == GFC_FAULT_SILENT)
    return faults->after != 0 && faults->after-- != 0 ? bytes : 0;
  if (fault == GFC_FAULT_KEEPS) {
    memset(frame + CREDITS, 0, sizeof(uint16_t));
    seal(with, number, frame, bytes);
  }
  if (fault == GFC_FAULT_NONE || fault >= GFC_FAULT_PAYLOAD || !now(faults))
    return bytes;
  if (fault == GFC_FAULT_FLIP) {
    frame[bytes - 1] ^= 0x10;
    return bytes;
  }
  if (fault == GFC_FAULT_NUMBER) {
    number--;
    memcpy(frame + NUMBER, &(uint64_t){htole64(number)}, sizeof number);
  }
  if (fault == GFC_FAULT_CREDITS)
    memset(frame + CREDITS, 0xff, sizeof(uint16_t));
  if (fault == GFC_FAULT_CUT)
    bytes--;
  seal(with, number, frame, bytes); /* only the fault is wrong */
  return fault == GFC_FAULT_DROP ? 0 : bytes;
}

void *gfc_fault_write(gfc_faults *faults, const void *local, size_t bytes) {
  if (faults->fault != GFC_FAULT_PAYLOAD || !now(faults))
    return NULL;
  uint8_t *copy = malloc(bytes);
  if (copy == NULL)
    return NULL;
  memcpy(copy, local, bytes);
  copy[bytes / 2] ^= 0x01;
  return copy;
}

size_t gfc_fault_pieces(const gfc_faults *faults, size_t pieces) {
  return faults->fault == GFC_FAULT_PIECEWISE ? 1 : pieces;
}

#else
typedef int gfc_no_faults; /* ISO C forbids an empty file */
#endif
