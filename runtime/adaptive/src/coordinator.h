/* coordinator.h: the state of a coordinator, and of a map attached to one. */
#ifndef GFS_COORDINATOR_H
#define GFS_COORDINATOR_H

#include <stdatomic.h>

#include "adaptive.h"
#include "cells.h"
#include "contention.h"
#include "device.h"
#include "gfsmith_adaptive.h"
#include "pipeline.h"
#include "trace.h"
#include "variants.h"

/* Reports that are made once. */
typedef enum gfs_blind {
  GFS_BLIND_TRACE,
  GFS_BLIND_DEVICE,
  GFS_BLIND_POLICY,
  GFS_BLIND_COUNTERS,
  GFS_BLIND_KERNELS,
  GFS_BLIND_CELLS,
  GFS_BLIND_WANTED
} gfs_blind;

struct gfsmith_adaptive {
  gfs_coordinator base;
  /* Read in most calls, rarely written. */
  _Atomic uint32_t conditions; /* number of threads and contention, as in a cell's key */
  uint32_t id;                 /* unique among the coordinators of this process; from 1 */
  /* gfs_threads_process() << 8 | number of the process */
  _Atomic uint32_t process;
  gfs_granules granules;
  gfsmith_adaptive_options options;
  gfs_device device;
  uint64_t start_ns;
  /* Written in timed calls. */
  gfs_contention contention;
  _Atomic uint32_t said; /* bits of gfs_blind: reports already made */
  gfs_trace trace;
  gfs_cells cells;
};

/* An attached map. */
typedef struct gfs_attached {
  gfs_adaptive_map base;
  uint32_t key; /* the map's part of the cell key */
  unsigned k, m;
  gfs_variants variants;
  gfsmith_kernel *table[][2];
} gfs_attached;

static inline gfsmith_adaptive *gfs_coordinator_of(const gfs_attached *attached) {
  return (gfsmith_adaptive *)attached->base.coordinator;
}

/* The key of the cell for a call, or for a batch call, under these conditions. */
uint32_t gfs_attached_key(const gfs_attached *attached, size_t len, bool batched,
                          uint32_t conditions);

/* Begin with valid options: open the trace, the device and the counters. `adaptive` is zero before,
 * and the caller still has to set base.attach. */
void gfs_coordinator_begin(gfsmith_adaptive *adaptive, const gfsmith_adaptive_options *options);

/* Close the trace and the counters. */
void gfs_coordinator_end(gfsmith_adaptive *adaptive);

/* Report, once for each reason, that something is unavailable: on stderr and in the trace. */
void gfs_coordinator_blind(gfsmith_adaptive *adaptive, gfs_blind reason, const char *why);

/* The number of this process, 0 .. 255, among those that inherited the coordinator by fork(): the
 * first has 0, and a child has one more than its parent. */
uint32_t gfs_coordinator_process(gfsmith_adaptive *adaptive);

/* Milliseconds since the creation of the coordinator. */
static inline uint32_t gfs_coordinator_ms(const gfsmith_adaptive *adaptive, uint64_t now_ns) {
  return (uint32_t)((now_ns - adaptive->start_ns) / 1000000) + 1;
}

#endif
