/* The files of a new set: an index, and volumes with 1, 2, 4, ... recovery blocks. */
#ifndef TOOL_PAR2_VOLUMES_H
#define TOOL_PAR2_VOLUMES_H

#include "output.h"
#include "par2_set.h"

typedef struct par2_volumes {
  output *outs;      /* the index and the volumes */
  size_t count;      /* of outs */
  size_t *first;     /* of each out: its first recovery block; first[count] = all */
  uint64_t critical; /* bytes of the packets that each file begins with */
  const par2_set *set;
} par2_volumes;

/* Set the id of the set, and plan its files. Their names begin with set->name without .par2.
 * TOOL_REFUSED after a message. */
int par2_volumes_plan(par2_volumes *volumes, par2_set *set, size_t recovery);
/* The output with a recovery block, and the offset of its packet. */
const output *par2_volume_of(const par2_volumes *volumes, size_t recovery, uint64_t *offset);
/* Write the packets other than the recovery blocks. */
int par2_volumes_finish(par2_volumes *volumes);
void par2_volumes_free(par2_volumes *volumes);

#endif
