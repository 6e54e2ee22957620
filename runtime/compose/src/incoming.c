#include "operations.h"

/* Register what the peer is to write: payload and trailers in one piece where they are one. */
static int grant_memory(gfc_end *end, gfc_grant *grant) {
  const gfsmith_operation *operation = end->operation;
  const gfc_shard *input = &operation->shard[end->index];
  gfc_engine *engine = operation->all->node->engine;
  int status = GFSMITH_OK;
  if (operation->length > 0)
    status = gfc_register(engine, input->bytes, operation->length, GFC_TARGET, NULL, &end->payload);
  if (status == GFSMITH_OK)
    status = gfc_register(engine, input->trailers, operation->slices * GFC_TRAILER_BYTES,
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
  int status = gfc_slot_take(operation->all, end, &end->slot);
  if (status != GFSMITH_OK)
    return status;
  grant.slot = end->slot;
  status = grant_memory(end, &grant);
  if (status == GFSMITH_OK)
    status = gfc_control(operation->all->node->engine, end->key.rank, GFC_GRANT, body,
                         gfc_put_grant(body, &grant));
  if (status != GFSMITH_OK) {
    gfc_receive_close(end);
    return status;
  }
  end->state = GFC_GRANTED;
  return GFSMITH_OK;
}

void gfc_receive_ask(gfc_end *end) {
  gfsmith_operation *operation = end->operation;
  end->asked = true;
  if (operation->phase != GFC_RUNNING || end->state != GFC_IDLE ||
      !gfc_connected(operation->all->node->engine, end->key.rank))
    return;
  int status = grant_end(end);
  for (unsigned n = operation->receives; status == GFSMITH_OK && n < operation->ends; n++) {
    if (gfc_trigger_of(&operation->end[n]) == end)
      gfc_send_push(&operation->end[n]);
  }
  /* Without a link it is asked again when there is one. */
  if (status != GFSMITH_OK && status != GFSMITH_EPEER)
    gfc_fail(operation, NULL, status, -1, "granting edge %u to rank %u: %s", end->key.edge,
             end->key.rank, gfsmith_compose_strerror(status));
}

void gfc_receive_close(gfc_end *end) {
  gfc_unregister(&end->payload);
  if (end->counter == NULL) /* else the provider may not have counted yet: gfc_triggers_close */
    gfc_unregister(&end->trailers);
  gfc_slot_give(end->operation->all, end->slot);
}

void gfc_receive_landed(gfc_end *end, size_t s) {
  gfsmith_operation *operation = end->operation;
  const gfc_shard *input = &operation->shard[end->index];
  const char *wrong = "it is not the next one";
  if (s == end->landed && s < operation->slices)
    wrong =
        gfc_trailer_check(input->trailers + s * GFC_TRAILER_BYTES, operation->job.id, (uint32_t)s,
                          input->bytes + s * operation->slice, gfc_slice_bytes(operation, s));
  if (wrong != NULL) {
    gfc_fail(operation, NULL, GFSMITH_ECORRUPT, end->key.rank,
             "slice %zu of edge %u from rank %u: %s", s, end->key.edge, end->key.rank, wrong);
    return;
  }
  gfc_trigger_landed(end);
  if (++end->landed < operation->slices)
    return;
  gfc_receipt receipt = {operation->job.id, end->key.edge, end->slot};
  uint8_t body[GFC_RECEIPT_BYTES];
  gfc_tell(operation->all, end->key.rank, GFC_LANDED, body, gfc_put_receipt(body, &receipt));
  gfc_receive_close(end);
  gfc_end_done(end);
}
