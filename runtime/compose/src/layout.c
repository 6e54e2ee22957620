/* How a transfer is cut, and where every shard is. */
#include <stdlib.h>
#include <string.h>

#include "operations.h"

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

int gfc_lay_out(gfsmith_operation *operation, const gfc_request *request) {
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
  return use_memory(operation, request) ? GFSMITH_OK : GFSMITH_EINVAL;
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

int gfc_lay_out_block(gfsmith_operation *operation) {
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
