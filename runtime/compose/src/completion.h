/* The end of operations: done, failed, canceled, out of time. */
#ifndef GFC_COMPLETION_H
#define GFC_COMPLETION_H

#include "operation.h"

/* Pass the trace to the node's handler, once, when the operation is over: in the caller's thread
 * for gfsmith_incoherent, otherwise in the engine's. */
void gfc_trace(const gfsmith_operation *operation);
/* If the operation is over, notify the caller and drop it. Every event of an operation ends with
 * this call. */
void gfc_settle(gfsmith_operation *operation);
/* Fail an operation that has not failed yet: notify all peers whose transfers are not done.
 * `cause`: the end whose peer refused, or NULL. The operation is ending afterwards; the caller
 * calls gfc_settle.
 */
void gfc_fail(gfsmith_operation *operation, const gfc_end *cause, int status, int rank,
              const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Fail with the status and reason of the peer of this end. */
void gfc_end_refused(gfc_end *end, const gfc_refusal *refusal);
/* Nothing more arrives at this end. */
void gfc_end_done(gfc_end *end);
/* Start the timer of the deadline. */
void gfc_start_deadline(gfsmith_operation *operation);
/* Work of gfc_run, whose context is the operation; takes over one reference. */
void gfc_operation_cancel(void *observer, void *operation);

#endif
