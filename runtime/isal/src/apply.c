#include "apply.h"

#include <stdalign.h>

#include "map.h"
#include "passes.h"
#include "portable.h"
#include "remembered_kernels.h"
#include "short_calls.h"
#include "sizes.h"
#include "table_entries.h"

/* Size of the tables on the stack: 10+4 needs 320 or 1280 bytes. */
#define AT_ONCE_BYTES 4096u

/* Run a call of one pass in cache, the most common case, with the least overhead before the kernel.
 * False if it is not such a call. */
static bool apply_at_once(const gfs_isal_call *call, gfs_operation operation, const gfs_isa *isa,
                          gfs_path path) {
  size_t entry = gfs_tables_entry(isa->format);
  if (call->outputs > GFS_PASS_MAX || call->inputs * call->outputs * entry > AT_ONCE_BYTES)
    return false;
  unsigned outputs = (unsigned)call->outputs;
  if (operation == GFS_OPERATION_dot) {
    const gfs_known_matrix *known = gfs_isal_known(isa, call->entries, call->inputs, outputs);
    if (known != NULL && known->outputs < outputs)
      return false;
    if (known != NULL) {
      gfsmith_kernel *kernel = gfs_isal_known_kernel(isa, known, path);
      kernel(call->len, call->inputs, NULL, call->src, call->dst);
      return true;
    }
    if (outputs == 1 && gfs_isal_all_ones(call->entries, call->inputs))
      return false;
  }
  gfsmith_kernel *kernel = gfs_isal_kernel(isa, operation, call->inputs, outputs, path);
  if (kernel == NULL)
    return false;
  alignas(GFS_CACHE_LINE) uint8_t tables[AT_ONCE_BYTES];
  gfs_isal_gather(isa->format, call->entries, call->stride, call->inputs, outputs, tables);
  kernel(call->len, call->inputs, tables, call->src, call->dst);
  return true;
}

void gfs_isal_apply(const gfs_isal_call *call, gfs_operation operation) {
  const gfs_isa *isa = call->inputs > 0 && call->outputs > 0 ? gfs_dispatch_isa() : NULL;
  if (isa == NULL) {
    for (size_t i = 0; i < call->outputs; i++)
      gfs_isal_plain_output(call, operation, i);
    return;
  }
  gfs_isal_find_short(isa);
  size_t shards =
      gfs_least(call->inputs, GFSMITH_MAX_SHARDS) + gfs_least(call->outputs, GFSMITH_MAX_SHARDS);
  gfs_path path = gfs_path_of(GFSMITH_HINT_AUTO, (unsigned)shards, call->len);
  path = gfs_path_probed(path, (unsigned)shards, call->len, call->src, (unsigned)call->inputs);
  if (!gfs_path_is_cached(path) || !apply_at_once(call, operation, isa, path))
    gfs_isal_apply_passes(call, operation, isa, path);
}
