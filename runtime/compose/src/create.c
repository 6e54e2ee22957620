/* From a request to an operation, and what an operation holds until it is over. */
#include <stdlib.h>
#include <string.h>

#include "operations.h"

/* Is this part of the caller's memory registered already? */
static bool find_region(gfc_operations *all, const uint8_t *bytes, size_t length,
                        void **descriptor) {
  gfsmith_region *region;
  bool found = false;
  pthread_mutex_lock(&all->lock);
  for (region = all->regions; region != NULL && !found; region = region->next) {
    uintptr_t from = (uintptr_t)bytes - (uintptr_t)region->memory;
    found = from <= region->bytes && length <= region->bytes - from;
    if (found)
      *descriptor = region->registration.descriptor;
  }
  pthread_mutex_unlock(&all->lock);
  return found;
}

/* What links need to read what is sent. */
static int register_sent(gfsmith_operation *operation) {
  for (unsigned n = operation->receives; n < operation->ends; n++) {
    gfc_end *end = &operation->end[n];
    gfc_shard *output = &operation->shard[operation->inputs + end->index];
    if (operation->length == 0)
      continue;
    const gfc_block *block = operation->block;
    uintptr_t from = (uintptr_t)output->bytes - (uintptr_t)block->bytes;
    if (from < block->size) {
      output->descriptor = block->local.descriptor;
    } else if (!find_region(operation->all, output->bytes, operation->length,
                            &output->descriptor)) {
      int status = gfc_register(operation->all->node->engine, output->bytes, operation->length,
                                GFC_SOURCE, NULL, &end->local);
      if (status != GFSMITH_OK)
        return status;
      output->descriptor = end->local.descriptor;
    }
  }
  return GFSMITH_OK;
}

/* What was received has its trailer already. */
static int take_sums(gfsmith_operation *operation) {
  for (unsigned i = 0; i < operation->outputs; i++) {
    gfc_shard *output = &operation->shard[operation->inputs + i];
    if (!output->sent || output->same >= (int)operation->locals)
      continue;
    output->sum = gfc_checksum_create();
    if (output->sum == NULL)
      return GFSMITH_ENOMEM;
  }
  return GFSMITH_OK;
}

/* The kernel of the outputs that are no inputs. */
static int take_kernel(gfsmith_operation *operation, const gfsmith_calc *calc) {
  unsigned rows = 0, inputs = operation->inputs;
  uint8_t *matrix = malloc((size_t)operation->outputs * inputs);
  if (matrix == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned i = 0; i < operation->outputs; i++) {
    if (operation->shard[inputs + i].same >= 0)
      continue;
    if (calc->calculator == GFSMITH_EC)
      memcpy(matrix + (size_t)rows * inputs, calc->matrix + (size_t)i * inputs, inputs);
    rows++;
  }
  gfsmith_calc rest = {calc->calculator, calc->polynomial, rows, matrix};
  int status = rows == 0
                   ? GFSMITH_OK
                   : gfc_kernel_take(operation->all->kernels, &rest, inputs, &operation->kernel);
  free(matrix);
  return status;
}

static int fill(gfsmith_operation *operation, const gfc_request *request) {
  int status = gfc_lay_out(operation, request);
  if (status == GFSMITH_OK)
    status = take_sums(operation);
  if (status == GFSMITH_OK)
    status = take_kernel(operation, request->calc);
  if (status == GFSMITH_OK)
    status = gfc_lay_out_block(operation);
  return status == GFSMITH_OK ? register_sent(operation) : status;
}

int gfc_operation_create(gfsmith_operation **out, gfsmith_node *node, const gfc_request *request) {
  *out = NULL;
  if (!gfc_request_valid(node, request))
    return GFSMITH_EINVAL;
  gfsmith_operation *operation = calloc(1, sizeof *operation);
  if (operation == NULL)
    return GFSMITH_ENOMEM;
  operation->all = node->operations;
  operation->outcome.rank = -1;
  atomic_init(&operation->references, 1);
  int status = gfc_handle_init(operation);
  if (status != GFSMITH_OK) {
    free(operation);
    return status;
  }
  status = fill(operation, request);
  if (status != GFSMITH_OK) {
    gfc_operation_free(operation);
    return status;
  }
  unsigned ms = request->job->deadline_ms != 0 ? request->job->deadline_ms : node->deadline_ms;
  operation->posted_at = gfc_now();
  operation->until = operation->posted_at + ms;
  *out = operation;
  return GFSMITH_OK;
}

void gfc_operation_empty(gfsmith_operation *operation) {
  for (unsigned n = operation->receives; n < operation->ends && operation->end != NULL; n++)
    gfc_unregister(&operation->end[n].local);
  if (operation->block != NULL)
    gfc_pool_give(operation->all->pool, operation->block);
  if (operation->kernel != NULL)
    gfc_kernel_give(operation->all->kernels, operation->kernel);
  operation->block = NULL;
  operation->kernel = NULL;
}

void gfc_operation_free(gfsmith_operation *operation) {
  gfc_operation_empty(operation);
  gfc_handle_end(operation);
  for (unsigned n = 0; operation->shard != NULL && n < operation->inputs + operation->outputs; n++)
    gfc_checksum_free(operation->shard[n].sum);
  free(operation->shard);
  free(operation->read);
  free(operation->write);
  free(operation->end);
  free(operation);
}
