/* The progress of operations: their start, and their continuation slice by slice. */
#ifndef GFC_PROGRESS_H
#define GFC_PROGRESS_H

#include "operation.h"

/* Work of gfc_run, whose context is the operation; takes over one reference. */
void gfc_operation_start(void *observer, void *operation);
/* Compute and send as far as possible. A long computation is done in parts, the rest later. */
void gfc_advance(gfsmith_operation *operation);

#endif
