#include "operations.h"

void gfc_send_granted(gfc_end *end, const gfc_grant *grant) {
  gfsmith_operation *operation = end->operation;
  unsigned edge = end->key.edge, rank = end->key.rank;
  if (end->state != GFC_IDLE)
    gfc_fail(operation, NULL, GFSMITH_ECORRUPT, (int)rank, "rank %u grants edge %u twice", rank,
             edge);
  else if (grant->hash != operation->job.hash)
    gfc_fail(operation, NULL, GFSMITH_EMISMATCH, (int)rank,
             "edge %u: hash %016llx at rank %u, %016llx here", edge,
             (unsigned long long)grant->hash, rank, (unsigned long long)operation->job.hash);
  else if (grant->length != operation->length)
    gfc_fail(operation, NULL, GFSMITH_EMISMATCH, (int)rank,
             "edge %u: shards of %llu bytes at rank %u, %zu here", edge,
             (unsigned long long)grant->length, rank, operation->length);
  else if (grant->slice != operation->slice)
    gfc_fail(operation, NULL, GFSMITH_EMISMATCH, (int)rank,
             "edge %u: slices of %llu bytes at rank %u, %zu here", edge,
             (unsigned long long)grant->slice, rank, operation->slice);
  if (operation->phase != GFC_RUNNING)
    return;
  end->state = GFC_GRANTED;
  end->grant = *grant;
  gfc_send_push(end);
}

/* Slice s, and its trailer behind it; if it is not here yet, when the counter says so. */
static int write_slice(gfc_end *end, size_t s, struct fid_cntr *counter) {
  const gfsmith_operation *operation = end->operation;
  const gfc_shard *output = &operation->shard[operation->inputs + end->index];
  const gfc_grant *grant = &end->grant;
  size_t from = s * operation->slice, behind = s * GFC_TRAILER_BYTES;
  gfc_piece piece[2];
  unsigned pieces = 0;
  size_t bytes = gfc_slice_bytes(operation, s);
  if (bytes > 0)
    piece[pieces++] = (gfc_piece){output->bytes + from, bytes, output->descriptor,
                                  grant->payload + from, grant->payload_key};
  piece[pieces++] =
      (gfc_piece){output->trailers + behind, GFC_TRAILER_BYTES, operation->block->local.descriptor,
                  grant->trailers + behind, grant->trailers_key};
  gfc_writing writing = {.piece = piece,
                         .pieces = pieces,
                         .data = (uint32_t)grant->slot << 16 | (uint32_t)s,
                         .counter = counter,
                         .threshold = s + 1,
                         .context = end};
  return gfc_write(operation->all->node->engine, end->key.rank, &writing);
}

/* Whether slice s waits for a counter; set, or taken back. */
static void arm(gfc_end *end, size_t s, bool armed) {
  uint64_t bit = UINT64_C(1) << s % GFC_WINDOW;
  uint16_t *count = &end->operation->all->armed[end->key.rank];
  if (armed == ((end->armed & bit) != 0))
    return;
  end->armed ^= bit;
  *count = (uint16_t)(armed ? *count + 1 : *count - 1);
}

/* Can slice s be sent, or left to a counter? */
static bool sendable(const gfc_end *end, size_t s, const gfc_end *trigger) {
  const gfsmith_operation *operation = end->operation;
  return s < operation->computed || (trigger != NULL && s < operation->slices &&
                                     operation->all->armed[end->key.rank] < GFC_ARMED_MAX);
}

void gfc_send_push(gfc_end *end) {
  gfsmith_operation *operation = end->operation;
  const gfc_end *trigger = gfc_trigger_of(end);
  while (operation->phase == GFC_RUNNING && end->state == GFC_GRANTED && end->flying < GFC_WINDOW &&
         sendable(end, end->posted, trigger)) {
    bool waits = end->posted >= operation->computed;
    int status = write_slice(end, end->posted, waits ? trigger->counter->fid : NULL);
    if (status != GFSMITH_OK) {
      gfc_fail(operation, NULL, status, end->key.rank, "slice %zu of edge %u to rank %u: %s",
               end->posted, end->key.edge, end->key.rank, gfsmith_compose_strerror(status));
      return;
    }
    arm(end, end->posted, waits);
    end->posted++;
    end->flying++;
    operation->flying++;
  }
}

/* Writes of one end are over in their order. */
void gfc_send_over(gfc_end *end, int status) {
  gfsmith_operation *operation = end->operation;
  arm(end, end->posted - end->flying, false);
  end->flying--;
  operation->flying--;
  if (status != GFSMITH_OK && end->state != GFC_DONE)
    gfc_fail(operation, NULL, status, end->key.rank, "edge %u to rank %u: %s", end->key.edge,
             end->key.rank, gfsmith_compose_strerror(status));
  gfc_send_push(end);
}
