#include <string.h>

#include "operation.h"

size_t gfc_slice_bytes(const gfsmith_operation *operation, size_t s) {
  size_t from = s * operation->slice;
  size_t left = operation->length - from;
  return left < operation->slice ? left : operation->slice;
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
  return gfc_kernel_run(operation->kernel, bytes, operation->read, operation->write);
}

int gfc_compute(gfsmith_operation *operation, size_t s) {
  size_t from = s * operation->slice, bytes = gfc_slice_bytes(operation, s);
  if (operation->kernel != NULL && bytes > 0) {
    int status = run_kernel(operation, from, bytes);
    if (status != GFSMITH_OK)
      return status;
  }
  for (unsigned i = 0; i < operation->outputs; i++) {
    const gfc_shard *output = &operation->shard[operation->inputs + i];
    if (output->kept != NULL && bytes > 0)
      memcpy(output->kept + from, output->bytes + from, bytes);
    /* What was received has its trailer already. */
    if (output->sent && (output->same < 0 || (unsigned)output->same < operation->locals))
      gfc_trailer_write(output->trailers + s * GFC_TRAILER_BYTES, operation->job.id, (uint32_t)s,
                        output->bytes + from, bytes);
  }
  return GFSMITH_OK;
}
