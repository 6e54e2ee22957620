#include "rows.h"

#include <string.h>

void gfs_rows_clear(const gfs_rows *rows, size_t from, size_t to) {
  memset(gfs_rows_row(rows, from), 0, gfs_rows_offset(rows, to) - gfs_rows_offset(rows, from));
}
