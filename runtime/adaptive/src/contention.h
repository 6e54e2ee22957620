/* contention.h: the contention of memory, determined from the number of encoding threads and from
 * the CPU's counters. Each thread leaves a time stamp when it times a call; threads with a recent
 * stamp are counted. The trace calls contention `pressure`. */
#ifndef GFS_CONTENTION_H
#define GFS_CONTENTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "candidates.h"
#include "cells.h"
#include "counters.h"
#include "trace.h"

/* Most threads that are counted exactly; further ones share slots and count as fewer. */
enum { GFS_THREADS_MAX = 256 };

/* A slot fills a cache line, to avoid false sharing. */
typedef struct gfs_place {
  /* end of the time during which the thread counts as active; 0: the slot is free */
  _Atomic uint32_t until_ms;
  char apart[60];
} gfs_place;

/* The registration of one thread. */
typedef struct gfs_presence {
  uint32_t ticket;  /* unique among the threads of this coordinator; from 1; 0: there are no more */
  uint32_t last_ms; /* time of its last timed call */
  gfs_place *place;
} gfs_presence;

typedef struct gfs_contention {
  const gfsmith_adaptive_options *options;
  gfs_trace *trace;
  _Atomic uint32_t *conditions; /* number of threads and level of contention, as in a cell's key */
  gfs_place place[GFS_THREADS_MAX];
  _Atomic uint32_t places;     /* number of slots that were ever used */
  _Atomic uint32_t tickets;    /* number of threads so far */
  _Atomic uint32_t count;      /* number of threads at the last count */
  _Atomic uint32_t pending;    /* a new number of threads, which the next count must confirm */
  _Atomic uint32_t counted_ms; /* time of the last count */
  _Atomic uint32_t seen;       /* gfs_contention_level according to the counters */
  long process;                /* that opened the counters: gfs_threads_process() */
  bool counters_open;
  atomic_flag reading;     /* is a thread reading the counters? */
  gfs_counters counters;   /* this and the following members belong to the reading thread */
  uint64_t read_ns;        /* time of the last reading */
  double latency, useless; /* smoothed; negative: not yet known */
  double least_latency, least_useless;
  unsigned reads; /* readings with a known latency */
} gfs_contention;

/* Begin with one thread and closed counters; `contention` is zero before. The objects that the
 * pointers refer to must outlive it. */
void gfs_contention_begin(gfs_contention *contention, const gfsmith_adaptive_options *options,
                          gfs_trace *trace, _Atomic uint32_t *conditions);

/* Open the counters. False: they stay closed, and `why` holds the reason, as with
 * gfs_counters_open. */
bool gfs_contention_open_counters(gfs_contention *contention, char *why, size_t size);

/* Close the counters if they are open. */
void gfs_contention_end(gfs_contention *contention);

/* Register a thread. */
void gfs_presence_enter(gfs_contention *contention, gfs_presence *presence, uint32_t now_ms);

/* Mark the thread as active. It stays active for four times its last interval between timed calls,
 * at least idle_ms and at most 16 times that. */
void gfs_presence_stamp(gfs_presence *presence, uint32_t now_ms, uint32_t idle_ms);

/* Count threads and read counters, if it is time for it. now_ms: since the creation of the
 * coordinator. */
void gfs_contention_update(gfs_contention *contention, uint64_t now_ns, uint32_t now_ms);

#endif
