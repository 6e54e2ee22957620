/* What may be asked for. */
#include "operations.h"

enum { DEADLINE_MAX = 86400000 };

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

bool gfc_request_valid(const gfsmith_node *node, const gfc_request *request) {
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
