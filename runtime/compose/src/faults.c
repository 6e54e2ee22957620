/* Faults on purpose, for tests. In other builds there is nothing here. */
#include "faults.h"

#ifdef GFSMITH_COMPOSE_FAULTS

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine.h"
#include "frame.h"
#include "node.h"

typedef struct wish {
  gfc_engine *engine;
  int fault;
  unsigned after;
} wish;

static void set(void *upper, void *context) {
  (void)upper;
  wish *wished = context;
  wished->engine->faults = (gfc_faults){.fault = wished->fault, .after = wished->after};
  free(wished);
}

static void set_patience(void *upper, void *context) {
  (void)upper;
  wish *wished = context;
  wished->engine->ask_ms = (unsigned)wished->fault;
  wished->engine->silent_ms = wished->after;
  free(wished);
}

static int run(gfsmith_node *node, void (*work)(void *, void *), int fault, unsigned after) {
  wish *wished = malloc(sizeof *wished);
  if (wished == NULL)
    return GFSMITH_ENOMEM;
  *wished = (wish){node->engine, fault, after};
  int status = gfc_run(node->engine, work, wished);
  if (status != GFSMITH_OK)
    free(wished);
  return status;
}

int gfsmith_node_fault(gfsmith_node *node, int fault, unsigned after) {
  return run(node, set, fault, after);
}

int gfsmith_node_patience(gfsmith_node *node, unsigned ask, unsigned silent) {
  return run(node, set_patience, (int)ask, silent);
}

/* Is it this one's turn? Then never again. */
static bool now(gfc_faults *faults) {
  if (faults->after-- != 0)
    return false;
  faults->fault = GFC_FAULT_NONE;
  return true;
}

static void change(uint8_t *frame, size_t bytes, size_t offset, const void *value, size_t width) {
  memcpy(frame + offset, value, width);
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
  if (fault == GFC_FAULT_CUT) { /* and the checksum is right */
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
typedef int gfc_no_faults; /* ISO C wants something */
#endif
