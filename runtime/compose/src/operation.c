#include "operation.h"

#include <stdlib.h>
#include <string.h>

/* ---- is a request allowed? ---- */

enum { DEADLINE_MAX = 86400000 };

static bool check_ranks(uint16_t own, const gfc_request *request) {
  for (unsigned j = 0; j < request->wait->count; j++) {
    const gfsmith_source *source = &request->wait->source[j];
    if (source->rank >= GFSMITH_RANKS_MAX || source->rank == own ||
        source->edge >= GFSMITH_EDGES_MAX)
      return false;
  }
  for (unsigned n = 0; n < request->stripe->count; n++) {
    const gfsmith_target *target = &request->stripe->target[n];
    if (target->rank >= GFSMITH_RANKS_MAX || target->rank == own ||
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

static bool valid(uint16_t own, const gfc_request *request) {
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
  return check_calc(request->calc, locals + sources) && check_ranks(own, request);
}

/* ---- layout: how transfers are cut into slices, and the address of every shard ---- */

/* The input that an output row equals, or -1. */
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

/* Cut transfers into slices; slice size 0 means whole shards. */
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
    end->key = (gfc_transfer_key){job, source->rank, source->edge, GFC_RECEIVER};
    end->index = operation->locals + j;
  }
  for (unsigned n = 0; n < request->stripe->count; n++) {
    const gfsmith_target *target = &request->stripe->target[n];
    gfc_end *end = &operation->end[operation->receives + n];
    end->key = (gfc_transfer_key){job, target->rank, target->edge, GFC_SENDER};
    end->index = target->output;
    operation->shard[operation->inputs + target->output].sent = true;
  }
  for (unsigned n = 0; n < operation->ends; n++)
    operation->end[n].operation = operation;
}

/* Assign the caller's memory to shards. An output that equals an input and is stored is received at
 * the address where it is stored. */
static bool use_memory(gfsmith_operation *operation, const gfc_request *request) {
  const gfsmith_memory *memory = request->memory;
  gfc_shard *input = operation->shard, *output = input + operation->inputs;
  for (unsigned j = 0; j < operation->inputs && operation->length > 0; j++) {
    if (j < operation->locals)
      memcpy(&input[j].bytes, &memory->local[j], sizeof input[j].bytes); /* which is only read */
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

/* Set everything that the request determines: ends, slices, addresses in the caller's memory. */
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
  return use_memory(operation, request) ? GFSMITH_OK : GFSMITH_EINVAL;
}

/* Divides the block of an operation into parts: with `base` NULL it only adds up their sizes, then
 * it gives their addresses. */
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
  size_t trailers = operation->slices * GFC_TRAILER_STRIDE;
  gfc_shard *input = operation->shard, *output = input + operation->inputs;
  for (unsigned j = operation->locals; j < operation->inputs; j++) {
    if (own[j])
      input[j].bytes = part(at, operation->length);
    input[j].landing = operation->sealed ? part(at, operation->length) : input[j].bytes;
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
  for (unsigned n = operation->receives; n < operation->ends && operation->sealed; n++)
    operation->end[n].tagged = part(at, trailers);
}

/* Take the block, and set all addresses that are not in the caller's memory. */
static int lay_out_block(gfsmith_operation *operation) {
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
  int status = gfc_block_take(operation->all->memory, at.used, &operation->block);
  if (status != GFSMITH_OK)
    return status;
  at = (cursor){operation->block->bytes, 0, false};
  place(operation, &at, own);
  for (unsigned j = operation->locals; j < operation->inputs; j++)
    memset(operation->shard[j].trailers, 0, operation->slices * GFC_TRAILER_STRIDE);
  return GFSMITH_OK;
}

/* ---- creation ---- */

/* Get the descriptors with which links read the outputs that are sent. */
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
    } else if (!gfc_region_find(operation->all->memory, output->bytes, operation->length,
                                &output->descriptor)) {
      int status = gfc_register(operation->all->engine, output->bytes, operation->length,
                                GFC_SOURCE, NULL, &end->local);
      if (status != GFSMITH_OK)
        return status;
      output->descriptor = end->local.descriptor;
    }
  }
  return GFSMITH_OK;
}

/* Create the checksums of outputs that are sent. Received shards that are sent on have trailers
 * already. */
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

/* Take the kernel of the outputs that do not equal an input. */
static int take_kernel(gfsmith_operation *operation, const gfsmith_calc *calc) {
  unsigned rows = 0, inputs = operation->inputs;
  uint8_t *matrix = malloc((size_t)operation->outputs * inputs);
  if (matrix == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned i = 0; i < operation->outputs; i++) {
    if (operation->shard[inputs + i].same >= 0)
      continue;
    for (unsigned j = 0; j < inputs; j++) {
      uint8_t c = calc->calculator == GFSMITH_EC ? calc->matrix[(size_t)i * inputs + j] : 1;
      matrix[(size_t)rows * inputs + j] = c;
      operation->terms += c != 0;
    }
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
  int status = lay_out(operation, request);
  if (status == GFSMITH_OK)
    status = take_sums(operation);
  if (status == GFSMITH_OK)
    status = take_kernel(operation, request->calc);
  if (status == GFSMITH_OK)
    status = lay_out_block(operation);
  return status == GFSMITH_OK ? register_sent(operation) : status;
}

/* Enter the facts of a trace that the request determines. */
static void begin_trace(gfsmith_operation *operation, const gfc_request *request) {
  unsigned sends = operation->ends - operation->receives;
  gfsmith_primitive primitive = operation->receives > 0 ? GFSMITH_RECV_EC_SEND : GFSMITH_EC_SEND;
  operation->trace = (gfsmith_trace){.job = operation->job.id,
                                     .hash = operation->job.hash,
                                     .primitive = sends == 0 ? GFSMITH_RECV_EC : primitive,
                                     .calculator = request->calc->calculator,
                                     .length = operation->length,
                                     .slices = operation->slices,
                                     .receives = operation->receives,
                                     .sends = sends,
                                     .involvements = 1};
}

/* ---- references ---- */

static int init_lock(gfsmith_operation *operation) {
  pthread_condattr_t clock;
  if (pthread_mutex_init(&operation->lock, NULL) != 0)
    return GFSMITH_ENOMEM;
  if (pthread_condattr_init(&clock) != 0)
    goto no_attributes;
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  int failed = pthread_cond_init(&operation->changed, &clock);
  pthread_condattr_destroy(&clock);
  if (failed == 0)
    return GFSMITH_OK;
no_attributes:
  pthread_mutex_destroy(&operation->lock);
  return GFSMITH_ENOMEM;
}

static void destroy_lock(gfsmith_operation *operation) {
  pthread_cond_destroy(&operation->changed);
  pthread_mutex_destroy(&operation->lock);
}

int gfc_operation_create(gfsmith_operation **out, gfc_operations *all, const gfc_request *request) {
  *out = NULL;
  if (!valid(all->rank, request))
    return GFSMITH_EINVAL;
  gfsmith_operation *operation = calloc(1, sizeof *operation);
  if (operation == NULL)
    return GFSMITH_ENOMEM;
  operation->posted_ns = gfc_now_ns();
  operation->all = all;
  operation->sealed = gfc_sealed(all->engine);
  operation->outcome.rank = -1;
  atomic_init(&operation->references, 1);
  int status = init_lock(operation);
  if (status != GFSMITH_OK) {
    free(operation);
    return status;
  }
  status = fill(operation, request);
  if (status != GFSMITH_OK) {
    gfc_operation_free(operation);
    return status;
  }
  begin_trace(operation, request);
  unsigned ms = request->job->deadline_ms != 0 ? request->job->deadline_ms : all->deadline_ms;
  operation->posted_at = gfc_now();
  operation->until = operation->posted_at + ms;
  *out = operation;
  return GFSMITH_OK;
}

void gfc_operation_empty(gfsmith_operation *operation) {
  for (unsigned n = operation->receives; n < operation->ends && operation->end != NULL; n++)
    gfc_unregister(&operation->end[n].local);
  if (operation->block != NULL)
    gfc_block_give(operation->all->memory, operation->block);
  if (operation->kernel != NULL)
    gfc_kernel_give(operation->all->kernels, operation->kernel);
  operation->block = NULL;
  operation->kernel = NULL;
}

void gfc_operation_free(gfsmith_operation *operation) {
  gfc_operation_empty(operation);
  destroy_lock(operation);
  for (unsigned n = 0; operation->shard != NULL && n < operation->inputs + operation->outputs; n++)
    gfc_checksum_free(operation->shard[n].sum);
  free(operation->shard);
  free(operation->read);
  free(operation->write);
  free(operation->end);
  free(operation);
}

void gfc_operation_hold(gfsmith_operation *operation) {
  atomic_fetch_add_explicit(&operation->references, 1, memory_order_relaxed);
}

void gfc_operation_drop(gfsmith_operation *operation) {
  if (atomic_fetch_sub_explicit(&operation->references, 1, memory_order_acq_rel) == 1)
    gfc_operation_free(operation);
}
