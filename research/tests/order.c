/* order.c: the results of the coordinator's gfs_ahead_begin for one call, for test_order.py. */
#include "order.h"

#include <string.h>

void ahead(const uint8_t *line, unsigned lines, int rows, unsigned k, size_t len, unsigned distance,
           unsigned first, const uint8_t *const *src, size_t *lead, size_t *piped,
           const uint8_t **pointers) {
  gfs_order order = {.lines = (uint8_t)lines, .rows = rows != 0};
  memcpy(order.line, line, lines);
  gfs_ahead whole = {.order = &order, .src = src, .k = k, .len = len};
  whole.distance = distance;
  whole.first = first;
  whole.device = 4;
  gfs_asking asking;
  gfs_ahead_begin(&whole, &asking, pointers);
  *lead = whole.lead;
  *piped = whole.piped;
}
