#include "compute.h"

#include <string.h>

/* A slice is computed, summed and copied piece by piece, each while it is in the core's own cache.
 * HOT_BYTES, the inputs and outputs of a piece together, is the largest size that the core library
 * assumes to be in cache; above it the library uses streaming stores. */
enum { HOT_BYTES = 512 << 10, PIECE_MIN = 4096 };

static size_t piece_bytes(const gfsmith_operation *operation) {
  size_t each = HOT_BYTES / (operation->inputs + operation->outputs) / PIECE_MIN * PIECE_MIN;
  return each > PIECE_MIN ? each : PIECE_MIN;
}

static int run_kernel(gfsmith_operation *operation, size_t from, size_t bytes) {
  const gfc_shard *input = operation->shard, *output = input + operation->inputs;
  unsigned computed = 0;
  for (unsigned j = 0; j < operation->inputs; j++)
    operation->read[j] = input[j].bytes + from;
  for (unsigned i = 0; i < operation->outputs; i++) {
    if (output[i].same < 0)
      operation->write[computed++] = output[i].bytes + from;
  }
  operation->trace.products += (uint64_t)operation->terms * bytes;
  return gfc_kernel_run(operation->kernel, bytes, operation->read, operation->write);
}

static int compute_piece(gfsmith_operation *operation, size_t from, size_t bytes) {
  int status = operation->kernel != NULL ? run_kernel(operation, from, bytes) : GFSMITH_OK;
  for (unsigned i = 0; i < operation->outputs && status == GFSMITH_OK; i++) {
    const gfc_shard *output = &operation->shard[operation->inputs + i];
    if (output->sum != NULL)
      gfc_checksum_add(output->sum, output->bytes + from, bytes);
    if (output->kept != NULL) {
      memcpy(output->kept + from, output->bytes + from, bytes);
      operation->trace.copied += bytes;
    }
  }
  return status;
}

static void begin(gfsmith_operation *operation, size_t s) {
  const gfc_shard *output = operation->shard + operation->inputs;
  size_t behind = s * GFC_TRAILER_STRIDE, bytes = gfc_slice_bytes(operation, s);
  for (unsigned i = 0; i < operation->outputs; i++) {
    if (output[i].sum == NULL)
      continue;
    gfc_trailer_head(output[i].trailers + behind, operation->job.id, (uint32_t)s, bytes);
    gfc_checksum_begin(output[i].sum, output[i].trailers + behind);
  }
}

static void end(gfsmith_operation *operation, size_t s) {
  const gfc_shard *output = operation->shard + operation->inputs;
  for (unsigned i = 0; i < operation->outputs; i++) {
    if (output[i].sum != NULL)
      gfc_checksum_end(output[i].sum, output[i].trailers + s * GFC_TRAILER_STRIDE);
  }
}

/* Is nothing computed, summed or copied, because every output is an input at the same address? */
static bool idle(const gfsmith_operation *operation) {
  const gfc_shard *output = operation->shard + operation->inputs;
  bool any = operation->kernel != NULL;
  for (unsigned i = 0; i < operation->outputs && !any; i++)
    any = output[i].sum != NULL || output[i].kept != NULL;
  return !any;
}

int gfc_compute(gfsmith_operation *operation, size_t s, size_t *room, bool *whole) {
  size_t from = s * operation->slice, bytes = gfc_slice_bytes(operation, s);
  size_t piece = piece_bytes(operation), shards = operation->inputs + operation->outputs;
  if (operation->within == 0)
    begin(operation, s);
  if (idle(operation))
    operation->within = bytes;
  while (operation->within < bytes && *room > 0) {
    size_t left = bytes - operation->within, count = left < piece ? left : piece;
    int status = compute_piece(operation, from + operation->within, count);
    if (status != GFSMITH_OK)
      return status;
    operation->within += count;
    *room -= count * shards < *room ? count * shards : *room;
  }
  *whole = operation->within == bytes;
  if (*whole) {
    end(operation, s);
    operation->within = 0;
  }
  return GFSMITH_OK;
}
