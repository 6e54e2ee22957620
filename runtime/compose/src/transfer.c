#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "completion.h"
#include "triggers.h"

gfc_end *gfc_end_find(gfc_operations *all, const gfc_transfer_key *key) {
  gfc_end *end;
  HASH_FIND(hh, all->ends, key, sizeof *key, end);
  return end;
}

/* ---- slots: the numbers, of 16 bits, by which writes name receiving ends ---- */

enum { SLOTS_MAX = 1 << 16, SLOTS_FIRST = 64 };

static int more_slots(gfc_operations *all) {
  size_t slots = all->slots == 0 ? SLOTS_FIRST : 2 * all->slots;
  if (slots > SLOTS_MAX)
    return GFSMITH_ELIMIT;
  gfc_end **slot = realloc(all->slot, slots * sizeof *slot);
  if (slot == NULL)
    return GFSMITH_ENOMEM;
  all->slot = slot;
  uint16_t *unused = realloc(all->unused, slots * sizeof *unused);
  if (unused == NULL)
    return GFSMITH_ENOMEM;
  all->unused = unused;
  for (size_t n = slots; n > all->slots; n--) {
    slot[n - 1] = NULL;
    unused[all->unused_count++] = (uint16_t)(n - 1);
  }
  all->slots = slots;
  return GFSMITH_OK;
}

/* Assign a number to a receiving end. GFSMITH_ELIMIT, GFSMITH_ENOMEM. */
static int take_slot(gfc_operations *all, gfc_end *end, uint16_t *slot) {
  int status = all->unused_count > 0 ? GFSMITH_OK : more_slots(all);
  if (status != GFSMITH_OK)
    return status;
  *slot = all->unused[--all->unused_count];
  all->slot[*slot] = end;
  return GFSMITH_OK;
}

static void give_slot(gfc_operations *all, uint16_t slot) {
  all->slot[slot] = NULL;
  all->unused[all->unused_count++] = slot;
}

/* The 32 bits that identify a write. */
static uint32_t write_data(uint16_t slot, size_t s) { return (uint32_t)slot << 16 | (uint32_t)s; }

/* ---- receiving ends ---- */

/* Register the memory that the peer will write: payload and trailers. */
static int grant_memory(gfc_end *end, gfc_grant *grant) {
  const gfsmith_operation *operation = end->operation;
  const gfc_shard *input = &operation->shard[end->index];
  gfc_engine *engine = operation->all->engine;
  int status = GFSMITH_OK;
  if (operation->length > 0)
    status =
        gfc_register(engine, input->landing, operation->length, GFC_TARGET, NULL, &end->payload);
  if (status == GFSMITH_OK)
    status = gfc_register(engine, input->trailers, operation->slices * GFC_TRAILER_STRIDE,
                          GFC_TARGET, gfc_trigger_arm(end), &end->trailers);
  grant->payload = end->payload.base;
  grant->payload_key = end->payload.key;
  grant->trailers = end->trailers.base;
  grant->trailers_key = end->trailers.key;
  return status;
}

static int grant_end(gfc_end *end) {
  gfsmith_operation *operation = end->operation;
  gfc_grant grant = {.job = operation->job.id,
                     .hash = operation->job.hash,
                     .edge = end->key.edge,
                     .length = operation->length,
                     .slice = operation->slice};
  uint8_t body[GFC_GRANT_BYTES];
  int status = take_slot(operation->all, end, &end->slot);
  if (status != GFSMITH_OK)
    return status;
  grant.slot = end->slot;
  status = grant_memory(end, &grant);
  if (status == GFSMITH_OK)
    status = gfc_control(operation->all->engine, end->key.rank, GFC_GRANT, body,
                         gfc_put_grant(body, &grant));
  if (status != GFSMITH_OK) {
    gfc_receive_close(end);
    return status;
  }
  end->state = GFC_GRANTED;
  operation->trace.messages_sent++;
  return GFSMITH_OK;
}

void gfc_receive_ask(gfc_end *end) {
  gfsmith_operation *operation = end->operation;
  end->asked = true;
  if (operation->phase != GFC_RUNNING || end->state != GFC_IDLE ||
      !gfc_connected(operation->all->engine, end->key.rank))
    return;
  int status = grant_end(end);
  for (unsigned n = operation->receives; status == GFSMITH_OK && n < operation->ends; n++) {
    if (gfc_trigger_of(&operation->end[n]) == end)
      gfc_send_push(&operation->end[n]);
  }
  /* Without a link this function is called again when the link comes up. */
  if (status != GFSMITH_OK && status != GFSMITH_EPEER)
    gfc_fail(operation, NULL, status, -1, "granting edge %u to rank %u: %s", end->key.edge,
             end->key.rank, gfsmith_compose_strerror(status));
}

void gfc_receive_close(gfc_end *end) {
  gfc_unregister(&end->payload);
  if (end->counter == NULL) /* else the provider may not have counted yet: gfc_triggers_close */
    gfc_unregister(&end->trailers);
  give_slot(end->operation->all, end->slot);
}

/* Copy slice s, which has just landed, and its trailer to memory that the peer cannot write. */
static void take_slice(const gfc_end *end, size_t s, uint8_t trailer[GFC_TRAILER_STRIDE]) {
  const gfsmith_operation *operation = end->operation;
  const gfc_shard *input = &operation->shard[end->index];
  size_t from = s * operation->slice, bytes = gfc_slice_bytes(operation, s);
  memcpy(trailer, input->trailers + s * GFC_TRAILER_STRIDE, GFC_TRAILER_STRIDE);
  if (operation->sealed && bytes > 0)
    memcpy(input->bytes + from, input->landing + from, bytes);
}

/* Is it the slice that the peer has sent? */
static bool authentic(const gfc_end *end, const uint8_t *trailer) {
  const gfsmith_operation *operation = end->operation;
  const gfc_shard *input = &operation->shard[end->index];
  size_t s = end->landed;
  return !operation->sealed ||
         gfc_authentic(operation->all->engine, end->key.rank, write_data(end->slot, s),
                       input->bytes + s * operation->slice, gfc_slice_bytes(operation, s),
                       trailer + GFC_TRAILER_BYTES);
}

void gfc_receive_landed(gfc_end *end, size_t s) {
  gfsmith_operation *operation = end->operation;
  const gfc_shard *input = &operation->shard[end->index];
  const char *wrong = "it is not the next one";
  uint8_t trailer[GFC_TRAILER_STRIDE];
  if (s == end->landed && s < operation->slices) {
    take_slice(end, s, trailer);
    if (!authentic(end, trailer)) {
      gfc_drop(operation->all->engine, end->key.rank, GFSMITH_ECORRUPT,
               "a slice that the peer did not send: its authentication code is wrong");
      return;
    }
    wrong = gfc_trailer_check(trailer, operation->job.id, (uint32_t)s,
                              input->bytes + s * operation->slice, gfc_slice_bytes(operation, s));
  }
  if (wrong != NULL) {
    gfc_fail(operation, NULL, GFSMITH_ECORRUPT, end->key.rank,
             "slice %zu of edge %u from rank %u: %s", s, end->key.edge, end->key.rank, wrong);
    return;
  }
  operation->trace.writes_received++;
  operation->trace.bytes_received += gfc_slice_bytes(operation, s);
  operation->trace.activations += !operation->by_hand;
  gfc_trigger_landed(end);
  if (++end->landed < operation->slices)
    return;
  gfc_receipt receipt = {operation->job.id, end->key.edge, end->slot};
  uint8_t body[GFC_RECEIPT_BYTES];
  gfc_tell(operation->all->engine, end->key.rank, GFC_LANDED, body,
           gfc_put_receipt(body, &receipt));
  operation->trace.messages_sent++;
  gfc_receive_close(end);
  gfc_end_done(end);
}

/* ---- sending ends ---- */

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
  operation->trace.messages_received++;
  gfc_send_push(end);
}

/* Write slice s, and its trailer after it; if it has not arrived yet, the write waits for the
 * counter. */
static int write_slice(gfc_end *end, size_t s, struct fid_cntr *counter) {
  const gfsmith_operation *operation = end->operation;
  const gfc_shard *output = &operation->shard[operation->inputs + end->index];
  const gfc_grant *grant = &end->grant;
  size_t from = s * operation->slice, behind = s * GFC_TRAILER_STRIDE;
  gfc_piece piece[2];
  unsigned pieces = 0;
  size_t bytes = gfc_slice_bytes(operation, s);
  if (bytes > 0)
    piece[pieces++] = (gfc_piece){output->bytes + from, bytes, output->descriptor,
                                  grant->payload + from, grant->payload_key};
  uint8_t *trailer = output->trailers + behind;
  if (operation->sealed)
    trailer = memcpy(end->tagged + behind, trailer, GFC_TRAILER_BYTES);
  piece[pieces++] = (gfc_piece){trailer, GFC_TRAILER_STRIDE, operation->block->local.descriptor,
                                grant->trailers + behind, grant->trailers_key};
  gfc_writing writing = {.piece = piece,
                         .pieces = pieces,
                         .payload = bytes > 0,
                         .tag = operation->sealed ? trailer + GFC_TRAILER_BYTES : NULL,
                         .data = write_data(grant->slot, s),
                         .counter = counter,
                         .threshold = s + 1,
                         .context = end};
  return gfc_write(operation->all->engine, end->key.rank, &writing);
}

/* Note whether the write of slice s waits for a counter. */
static void arm(gfc_end *end, size_t s, bool armed) {
  uint64_t bit = UINT64_C(1) << s % GFC_WINDOW;
  uint16_t *count = &end->operation->all->armed[end->key.rank];
  if (armed == ((end->armed & bit) != 0))
    return;
  end->armed ^= bit;
  *count = (uint16_t)(armed ? *count + 1 : *count - 1);
}

/* Can slice s be written now, or be left to a counter? */
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
    operation->trace.writes_sent++;
    operation->trace.bytes_sent += gfc_slice_bytes(operation, end->posted);
    operation->trace.activations += !operation->by_hand;
    end->posted++;
    end->flying++;
    operation->flying++;
  }
}

/* The writes of one end are over in the order in which they were posted. */
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
