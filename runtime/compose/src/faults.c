/* Injected faults, for tests. In other builds this file is empty. */
#include "faults.h"

#ifdef GFSMITH_COMPOSE_FAULTS

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Does the fault apply to this frame or write? Then it is used up. */
static bool now(gfc_faults *faults) {
  if (faults->after-- != 0)
    return false;
  faults->fault = GFC_FAULT_NONE;
  return true;
}

static void change(uint8_t *frame, size_t bytes, size_t offset, const void *value, size_t width) {
  memmove(frame + offset, value, width);
  uint64_t sum = htole64(XXH3_64bits(frame + sizeof sum, bytes - sizeof sum));
  memcpy(frame, &sum, sizeof sum);
}

size_t gfc_fault_frame(gfc_faults *faults, uint8_t *frame, size_t bytes) {
  int fault = faults->fault;
  uint32_t magic = 0;
  uint16_t credits = UINT16_MAX;
  if (fault == GFC_FAULT_SILENT)
    return faults->after != 0 && faults->after-- != 0 ? bytes : 0;
  if (fault == GFC_FAULT_NONE || fault >= GFC_FAULT_PAYLOAD || !now(faults))
    return bytes;
  if (fault == GFC_FAULT_FLIP)
    frame[bytes - 1] ^= 0x10;
  if (fault == GFC_FAULT_MAGIC)
    change(frame, bytes, 8, &magic, sizeof magic);
  if (fault == GFC_FAULT_CREDITS)
    change(frame, bytes, 14, &credits, sizeof credits);
  if (fault == GFC_FAULT_CUT) { /* with a correct checksum */
    bytes--;
    change(frame, bytes, 8, frame + 8, sizeof magic);
  }
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
