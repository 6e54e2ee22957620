/* From descriptors to an operation: checks, where everything is, what is registered. */
#include <stdlib.h>
#include <string.h>

#include "operations.h"

enum { DEADLINE_MAX = 86400000 };

/* The input that a row is, or -1. */
static int same_as(const gfsmith_calc *calc, unsigned inputs, unsigned row) {
  int found = -1;
  if (calc->calculator == GFSMITH_FORWARD)
    return (int)row;
  for (unsigned j = 0; j < inputs; j++) {
    uint8_t c = calc->calculator == GFSMITH_XOR ? 1 : calc->matrix[(size_t)row * inputs + j];
    if (c > 1 || (c == 1 && found >= 0))
      return -1;
    if (c == 1)
      found = (int)j;
  }
  return found;
}

static bool check_ranks(const gfsmith_node *node, const gfc_request *request) {
  for (unsigned j = 0; j < request->wait->count; j++) {
    const gfsmith_source *source = &request->wait->source[j];
    if (source->rank >= GFSMITH_RANKS_MAX || source->rank == node->rank ||
        source->edge >= GFSMITH_EDGES_MAX)
      return false;
  }
  for (unsigned n = 0; n < request->stripe->count; n++) {
    const gfsmith_target *target = &request->stripe->target[n];
    if (target->rank >= GFSMITH_RANKS_MAX || target->rank == node->rank ||
        target->edge >= GFSMITH_EDGES_MAX || target->output >= request->calc->outputs)
      return false;
  }
  return true;
}

static bool check_calc(const gfsmith_calc *calc, unsigned inputs) {
  switch (calc->calculator) {
  case GFSMITH_FORWARD:
    return calc->outputs == inputs;
  case GFSMITH_XOR:
    return calc->outputs == 1;
  case GFSMITH_EC:
    return calc->outputs >= 1 && calc->outputs <= GFSMITH_MAX_SHARDS && calc->matrix != NULL;
  }
  return false;
}

static bool check(const gfsmith_node *node, const gfc_request *request) {
  const gfsmith_memory *memory = request->memory;
  unsigned locals = memory->locals, sources = request->wait->count;
  if (locals > GFSMITH_MAX_SHARDS || sources > GFSMITH_MAX_SHARDS || locals + sources == 0 ||
      locals + sources > GFSMITH_MAX_SHARDS || request->stripe->count > GFSMITH_EDGES_MAX ||
      request->job->deadline_ms > DEADLINE_MAX || memory->length > PTRDIFF_MAX)
    return false;
  if ((sources > 0 && request->wait->source == NULL) ||
      (request->stripe->count > 0 && request->stripe->target == NULL) ||
      (locals > 0 && memory->length > 0 && memory->local == NULL))
    return false;
  for (unsigned j = 0; j < locals && memory->length > 0; j++) {
    if (memory->local[j] == NULL)
      return false;
  }
  return check_calc(request->calc, locals + sources) && check_ranks(node, request);
}

/* How a transfer is cut; slice 0 is none. */
static bool cut(gfsmith_operation *operation, const gfsmith_memory *memory) {
  operation->length = memory->length;
  operation->slice =
      memory->slice == 0 || memory->slice > memory->length ? memory->length : memory->slice;
  operation->slices = 1;
  if (operation->slice > 0)
    operation->slices = (operation->length - 1) / operation->slice + 1;
  return operation->slices <= GFSMITH_SLICES_MAX;
}

static int allocate(gfsmith_operation *operation) {
  size_t shards = operation->inputs + operation->outputs;
  operation->shard = calloc(shards, sizeof *operation->shard);
  operation->read = calloc(operation->inputs, sizeof *operation->read);
  operation->write = calloc(operation->outputs, sizeof *operation->write);
  operation->end = calloc(operation->ends > 0 ? operation->ends : 1, sizeof *operation->end);
  return operation->shard != NULL && operation->read != NULL && operation->write != NULL &&
                 operation->end != NULL
             ? GFSMITH_OK
             : GFSMITH_ENOMEM;
}

static void make_ends(gfsmith_operation *operation, const gfc_request *request) {
  uint64_t job = request->job->id;
  for (unsigned j = 0; j < operation->receives; j++) {
    const gfsmith_source *source = &request->wait->source[j];
    gfc_end *end = &operation->end[j];
    end->key = (gfc_key){job, source->rank, source->edge, GFC_RECEIVER};
    end->index = operation->locals + j;
  }
  for (unsigned n = 0; n < request->stripe->count; n++) {
    const gfsmith_target *target = &request->stripe->target[n];
    gfc_end *end = &operation->end[operation->receives + n];
    end->key = (gfc_key){job, target->rank, target->edge, GFC_SENDER};
    end->index = target->output;
    operation->shard[operation->inputs + target->output].sent = true;
  }
  for (unsigned n = 0; n < operation->ends; n++)
    operation->end[n].operation = operation;
}

/* What shards have of the caller's memory. An output that is an input, and is kept, is received
 * where it is kept. */
static bool use_memory(gfsmith_operation *operation, const gfc_request *request) {
  const gfsmith_memory *memory = request->memory;
  gfc_shard *input = operation->shard, *output = input + operation->inputs;
  for (unsigned j = 0; j < operation->inputs && operation->length > 0; j++) {
    if (j < operation->locals)
      memcpy(&input[j].bytes, &memory->local[j], sizeof input[j].bytes); /* it is only read */
    else if (memory->received != NULL)
      input[j].bytes = memory->received[j - operation->locals];
  }
  for (unsigned i = 0; i < operation->outputs; i++) {
    uint8_t *kept = memory->output != NULL ? memory->output[i] : NULL;
    int same = output[i].same = same_as(request->calc, operation->inputs, i);
    bool received = same >= (int)operation->locals && input[same].bytes != NULL;
    if (kept == NULL && !output[i].sent && !received && operation->length > 0)
      return false;
    if (same < 0)
      output[i].bytes = kept;
    else if (input[same].bytes == NULL)
      input[same].bytes = kept;
    else if (input[same].bytes != kept)
      output[i].kept = kept;
  }
  return true;
}

/* Parts of the operation's block: first their sum, with `base` NULL, then their addresses. */
typedef struct cursor {
  uint8_t *base;
  size_t used;
  bool overflow;
} cursor;

static uint8_t *part(cursor *at, size_t bytes) {
  if (bytes > PTRDIFF_MAX - 63 || at->used > PTRDIFF_MAX - (bytes + 63)) {
    at->overflow = true;
    return NULL;
  }
  uint8_t *address = at->base != NULL ? at->base + at->used : NULL;
  at->used += (bytes + 63) / 64 * 64;
  return address;
}

static void place(gfsmith_operation *operation, cursor *at, bool *own) {
  size_t trailers = operation->slices * GFC_TRAILER_BYTES;
  gfc_shard *input = operation->shard, *output = input + operation->inputs;
  for (unsigned j = operation->locals; j < operation->inputs; j++) {
    if (own[j])
      input[j].bytes = part(at, operation->length);
    input[j].trailers = part(at, trailers);
  }
  for (unsigned i = 0; i < operation->outputs; i++) {
    int same = output[i].same;
    if (own[operation->inputs + i])
      output[i].bytes = part(at, operation->length);
    else if (same >= 0)
      output[i].bytes = input[same].bytes;
    if (same >= (int)operation->locals)
      output[i].trailers = input[same].trailers;
    else if (output[i].sent)
      output[i].trailers = part(at, trailers);
  }
}

/* The block, and with it all addresses that are not the caller's. */
static int take_block(gfsmith_operation *operation) {
  bool own[2 * GFSMITH_MAX_SHARDS];
  cursor at = {NULL, 0, false};
  for (unsigned n = 0; n < operation->inputs + operation->outputs; n++) {
    const gfc_shard *shard = &operation->shard[n];
    bool other = n < operation->inputs ? n < operation->locals : shard->same >= 0;
    own[n] = !other && shard->bytes == NULL && operation->length > 0;
  }
  place(operation, &at, own);
  if (at.overflow)
    return GFSMITH_ELIMIT;
  if (at.used == 0)
    return GFSMITH_OK;
  int status = gfc_pool_take(operation->all->pool, at.used, &operation->block);
  if (status != GFSMITH_OK)
    return status;
  at = (cursor){operation->block->bytes, 0, false};
  place(operation, &at, own);
  for (unsigned j = operation->locals; j < operation->inputs; j++)
    memset(operation->shard[j].trailers, 0, operation->slices * GFC_TRAILER_BYTES);
  return GFSMITH_OK;
}

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

static int lay_out(gfsmith_operation *operation, const gfc_request *request) {
  const gfsmith_memory *memory = request->memory;
  operation->job = *request->job;
  operation->locals = memory->locals;
  operation->receives = request->wait->count;
  operation->inputs = memory->locals + request->wait->count;
  operation->outputs = request->calc->outputs;
  operation->ends = operation->open = request->wait->count + request->stripe->count;
  if (!cut(operation, memory))
    return GFSMITH_EINVAL;
  int status = allocate(operation);
  if (status != GFSMITH_OK)
    return status;
  make_ends(operation, request);
  if (!use_memory(operation, request))
    return GFSMITH_EINVAL;
  if ((status = take_sums(operation)) != GFSMITH_OK ||
      (status = take_kernel(operation, request->calc)) != GFSMITH_OK)
    return status;
  status = take_block(operation);
  return status == GFSMITH_OK ? register_sent(operation) : status;
}

int gfc_operation_create(gfsmith_operation **out, gfsmith_node *node, const gfc_request *request) {
  *out = NULL;
  if (!check(node, request))
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
  status = lay_out(operation, request);
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
