/* coordinator.h: what a coordinator holds, and a map that is attached to one. */
#ifndef GFS_COORDINATOR_H
#define GFS_COORDINATOR_H

#include <stdatomic.h>

#include "adaptive.h"
#include "cells.h"
#include "counters.h"
#include "device.h"
#include "gfsmith_adaptive.h"
#include "threads.h"
#include "trace.h"
#include "variants.h"

/* What is said once. */
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
  /* Read in most calls, and rarely changed. */
  _Atomic uint32_t conditions; /* number of threads and pressure, as in a cell's key */
  uint32_t id;                 /* no other coordinator of this process has it; from 1 */
  unsigned device_lines;       /* lines of 64 bytes in a line of the device */
  gfsmith_adaptive_options options;
  gfs_device device;
  uint64_t start_ns;
  /* Written when calls are timed. */
  gfs_threads threads;
  _Atomic uint32_t count;      /* of threads, when they were counted last */
  _Atomic uint32_t pending;    /* threads as another count had them: a change is believed twice */
  _Atomic uint32_t counted_ms; /* when they were */
  _Atomic uint32_t seen;       /* gfs_pressure: what the counters say */
  _Atomic uint32_t said;       /* bits of gfs_blind */
  bool counters_open;
  atomic_flag reading;     /* someone is reading counters */
  gfs_counters counters;   /* from here on whoever is */
  uint64_t read_ns;        /* when they were read last */
  double latency, useless; /* smoothed; negative: not known yet */
  double least_latency, least_useless;
  unsigned reads; /* that knew the latency */
  gfs_trace trace;
  gfs_cells cells;
};

/* A map that is attached. */
typedef struct gfs_attached {
  gfs_adaptive_map base;
  uint32_t key; /* the map's part of it */
  unsigned k, m;
  gfs_variants variants;
  gfsmith_kernel *table[][2];
} gfs_attached;

static inline gfsmith_adaptive *gfs_coordinator_of(const gfs_attached *attached) {
  return (gfsmith_adaptive *)attached->base.coordinator;
}

/* The function of gfs_adaptive_map: hook.c. */
void gfs_adaptive_apply(gfs_adaptive_map *self, gfs_path path, size_t len,
                        const uint8_t *const *src, uint8_t *const *dst);

/* The key of a call's cell under these conditions. */
uint32_t gfs_attached_key(const gfs_attached *attached, size_t len, uint32_t conditions);

/* Calls of a cell that were timed, and the policy that they ran with. */
typedef struct gfs_timing {
  uint64_t begin_ns, end_ns;
  unsigned calls;
  uint32_t packed;
} gfs_timing;

/* They are over: learn from them. */
void gfs_adaptive_learn(const gfs_attached *attached, gfs_thread *thread, gfs_cell *cell,
                        size_t len, const gfs_timing *timing);

/* A map is attached to a coordinator, or no longer: functions of gfs_coordinator and
 * gfs_adaptive_map, attach.c. */
gfsmith_status gfs_adaptive_attach(gfs_coordinator *self, const gfs_isa *isa,
                                   const struct gfs_map *map, gfs_adaptive_map **out);

/* Count threads and read counters, if it is time to: pressure.c. */
void gfs_pressure_update(gfsmith_adaptive *adaptive, uint64_t now_ns);

/* Say what cannot be seen, once for each reason: on stderr and in the trace. */
void gfs_adaptive_blind(gfsmith_adaptive *adaptive, gfs_blind reason, const char *why);

/* Milliseconds since it was created. */
static inline uint32_t gfs_adaptive_ms(const gfsmith_adaptive *adaptive, uint64_t now_ns) {
  return (uint32_t)((now_ns - adaptive->start_ns) / 1000000) + 1;
}

#endif
