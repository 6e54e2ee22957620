#include "raid_short.h"

#include <string.h>

#include "gfsmith.h"
#include "tables.h"

_Atomic uint64_t gfs_raid_short_entries[GFS_RAID_SHORT_DATA][2];

static void fill_entry(_Atomic uint64_t *place, const gfs_field *field, uint8_t coefficient) {
  uint64_t bits;
  uint8_t entry[sizeof bits];
  gfs_tables_fill(GFS_FORMAT_affine, field, coefficient, entry);
  memcpy(&bits, entry, sizeof bits);
  atomic_store_explicit(place, bits, memory_order_relaxed);
}

void gfs_raid_short_fill(void) {
  gfs_field field;
  gfs_field_init(&field, GFSMITH_POLYNOMIAL);
  uint8_t power = 1;
  for (unsigned j = 0; j < GFS_RAID_SHORT_DATA; j++) {
    fill_entry(&gfs_raid_short_entries[j][0], &field, 1);
    fill_entry(&gfs_raid_short_entries[j][1], &field, power);
    power = gfs_field_mul(&field, power, 2);
  }
}
