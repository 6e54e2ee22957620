/* contention.c on counters of a simulated kernel: a library for test_pressure.py. */
#include <string.h>

#include "contention.h"
#include "options.h"

static gfsmith_adaptive_options options;
static gfs_contention contention;
static gfs_trace trace;
static _Atomic uint32_t conditions;

/* Instead of cells.c, which needs generated kernels. All calls come from one thread here. */
uint32_t gfs_key_threads(unsigned threads) {
  (void)threads;
  return 0;
}

bool pressure_begin(const gfs_counters_system *system, char *why, size_t size) {
  gfsmith_adaptive_defaults(&options);
  memset(&contention, 0, sizeof contention);
  conditions = 0;
  gfs_contention_begin(&contention, &options, &trace, &conditions);
  contention.counters_open = gfs_counters_open_on(&contention.counters, system, why, size);
  return contention.counters_open;
}

/* Read the counters at this time; is contention high? */
bool pressure_high(uint64_t now_ns) {
  gfs_contention_update(&contention, now_ns, (uint32_t)(now_ns / 1000000));
  return (conditions & GFS_KEY_HIGH) != 0;
}

void pressure_end(void) { gfs_contention_end(&contention); }
