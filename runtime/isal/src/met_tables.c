#include "met_tables.h"

gfs_isal_table gfs_isal_met_tables[GFS_ISAL_MET_TABLES];
_Atomic(unsigned char) gfs_isal_met_shapes[GFS_ISAL_MET_OUTPUTS + 1][GFS_ISAL_MET_INPUTS + 1];

/* The number of tables that are in use, or more. */
static atomic_uint met_tables_claimed;

/* Take a table that no call uses; NULL if there is none. */
static gfs_isal_table *claim_met_table(void) {
  if (atomic_load_explicit(&met_tables_claimed, memory_order_relaxed) >= GFS_ISAL_MET_TABLES)
    return NULL;
  unsigned number = atomic_fetch_add_explicit(&met_tables_claimed, 1, memory_order_relaxed);
  return number < GFS_ISAL_MET_TABLES ? &gfs_isal_met_tables[number] : NULL;
}

void gfs_isal_meet(const uint8_t *entries, size_t inputs, size_t outputs,
                   gfsmith_kernel *const *kernel) {
  if (inputs > GFS_ISAL_MET_INPUTS || gfs_isal_met(inputs, outputs) - 1 < GFS_ISAL_MET_TABLES)
    return;
  bool fits = kernel != NULL && inputs * outputs <= GFS_ISAL_MET_ENTRIES;
  gfs_isal_table *table = fits ? claim_met_table() : NULL;
  unsigned char state = GFS_ISAL_MET_IN_VAIN;
  if (table != NULL) {
    memcpy(table->kernel, kernel, sizeof table->kernel);
    for (size_t n = 0; n < inputs * outputs; n++)
      table->matrices[n] = gfs_isal_first_copy(entries + n * GFS_ISAL_ENTRY);
    state = (unsigned char)(table - gfs_isal_met_tables + 1);
  }
  atomic_store_explicit(&gfs_isal_met_shapes[outputs][inputs], state, memory_order_release);
}
