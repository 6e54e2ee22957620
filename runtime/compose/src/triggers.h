/* Triggered operations: the provider forwards by itself. If an operation only forwards its received
 * inputs, and the provider supports triggered operations (FI_TRIGGER; in Debian's libfabric 1.17
 * `sockets` does, `tcp` does not), its writes are posted beforehand. Each is triggered when a
 * counter of the landed slices (FI_RMA_EVENT, bound to the registration of the trailers) reaches
 * its slice: the paper's RDMA WAIT. Neither the engine's thread nor the caller's takes part. A
 * trailer is forwarded unchanged, so the last receiver does the check that every node on the path
 * would have done. */
#ifndef GFC_TRIGGERS_H
#define GFC_TRIGGERS_H

#include "operation.h"

/* Can the provider do the sends of this operation? */
bool gfc_forwards(const gfsmith_operation *operation);
/* A counter for a receiving end that is being granted; NULL: not needed or not available. */
struct fid_cntr *gfc_trigger_arm(gfc_end *end);
/* The receiving end whose counter triggers a sending end, or NULL. */
const gfc_end *gfc_trigger_of(const gfc_end *end);
/* A slice has landed: make sure that no write that waits for it is missed. */
void gfc_trigger_landed(const gfc_end *end);
/* The receiver of this end ignores all writes from now on: trigger the writes that still wait, so
 * that they end. */
void gfc_triggers_flush(gfc_operations *all, const gfc_transfer_key *key);
/* The operation is over: give back its counters. */
void gfc_triggers_close(gfsmith_operation *operation);
/* Free all counters, after the engine has ended. */
void gfc_triggers_free(gfc_operations *all);

#endif
