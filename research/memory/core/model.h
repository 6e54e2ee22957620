/* model.h: cores, prefetchers and a memory device, in picoseconds of simulated time.
 *
 * One direction: run.c (cores, threads) -> cpu.c (caches, prefetcher of one core) -> device.c.
 * docs/memory.md lists the modelled effects and the omitted ones. research/memory/model.toml has
 * every parameter.
 */
#ifndef MEMORY_MODEL_H
#define MEMORY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_SHIFT 6u
#define PAGE_LINES 64u

typedef uint64_t mm_time; /* picoseconds */

/* All members are uint64_t: machine.py fills them by name and order. */
typedef struct mm_params {
  /* device */
  uint64_t channels, interleave, line, buffer, lru, latency, hit, read, write, queue;
  /* core */
  uint64_t cycle, width, rob, scheduler, fill_buffers, store_buffer, l1_sets, l1_ways, l1_hit,
      l2_sets, l2_ways, l2_hit, superqueue;
  /* stream prefetcher: 0 streams switch it off */
  uint64_t streams, trigger, degree, reach, growth;
} mm_params;

/* An access of a kernel to one place of a shard. Instructions and sixteenths of cycles count from
 * the event before it, including this event. */
typedef struct mm_event {
  uint8_t kind;
  uint8_t waiting; /* number of these instructions that wait for data loaded here */
  uint16_t shard;
  uint32_t offset;
  uint16_t instructions;
  uint16_t cycles16;
} mm_event;

enum { MM_LOAD, MM_PREFETCH, MM_PREFETCH_SECOND, MM_STORE, MM_STREAM, MM_WORK };

/* Stripes whose shards are blocks of `block` bytes. Shards 0 .. inputs-1 come from one array of
 * 2^blocks blocks, the other shards from another, each block once, in a scattered order. */
typedef struct mm_work {
  uint64_t inputs, shards, pitch, blocks, threads, stripes, warm, seed;
} mm_work;

typedef struct mm_counts {
  uint64_t events;          /* executed */
  uint64_t loaded;          /* source lines that the kernels loaded, each once per call */
  uint64_t demand;          /* reads of the device: loads and stores that missed, */
  uint64_t software;        /* software prefetches, */
  uint64_t hardware;        /* and hardware prefetches */
  uint64_t media;           /* device lines read from the media */
  uint64_t hits;            /* reads served by the device's buffer */
  uint64_t written;         /* lines of 64 bytes written */
  uint64_t useful, useless; /* hardware prefetches that a core accessed later, or never */
  uint64_t dropped;         /* hardware prefetches without a place in the queue */
  uint64_t stalled;         /* picoseconds, of all threads together, in which the oldest instruction
                               was a load that waited for a line beyond the first level */
  uint64_t time;            /* picoseconds of the slowest thread */
  double rate; /* stripes per microsecond of all threads together, after the warm-up stripes */
} mm_counts;

/* ---- device.c ---- */

/* A line in the device's buffer: one bit for each piece that has not been read yet. */
typedef struct mm_buffered {
  mm_time ready;
  uint64_t stamp, left;
} mm_buffered;

/* The load of the media, for each time slot of the duration of one line. Requests come slightly out
 * of order, and a late request must not delay one with an earlier time. */
#define SLOTS 4096u

typedef struct mm_channel {
  uint64_t slot[SLOTS];
  mm_time used[SLOTS];
  uint64_t *held; /* line + 1 of each entry, 0: free */
  mm_buffered *entry;
} mm_channel;

typedef struct mm_device {
  const mm_params *p;
  mm_counts *counts;
  mm_channel *channel;
  uint64_t clock;
} mm_device;

bool mm_device_create(mm_device *d, const mm_params *p, mm_counts *counts);
void mm_device_destroy(mm_device *d);
/* The arrival time of 64 bytes that are requested at `at`. */
mm_time mm_device_read(mm_device *d, uint64_t address, mm_time at);
/* The time at which the device has accepted 64 bytes. */
mm_time mm_device_write(mm_device *d, uint64_t address, mm_time at);

/* ---- cpu.c ---- */

typedef struct mm_entry {
  mm_time ready;
  uint32_t stamp;
  bool prefetched; /* and not accessed since */
} mm_entry;

typedef struct mm_cache {
  uint64_t sets, ways;
  uint32_t clock;
  uint64_t *held; /* line + 1 of each entry, 0: free */
  mm_entry *entry;
} mm_cache;

/* One page that the prefetcher follows. ahead: the farthest prefetched line, in the direction. */
typedef struct mm_stream {
  uint64_t page, stamp;
  int last, direction, confidence, ahead;
  bool valid;
} mm_stream;

typedef struct mm_cpu {
  const mm_params *p;
  mm_device *device;
  mm_counts *counts;
  mm_cache l1, l2;
  mm_stream *stream;
  mm_time *fill, *queue;
  uint64_t clock;
} mm_cpu;

bool mm_cpu_create(mm_cpu *c, const mm_params *p, mm_device *d, mm_counts *counts);
void mm_cpu_destroy(mm_cpu *c);
/* An access to the line by a load, store or software prefetch. *begun is the time at which it got a
 * fill buffer. The result is the arrival time of the line (in the second level for
 * MM_PREFETCH_SECOND). */
mm_time mm_cpu_access(mm_cpu *c, uint64_t line, int kind, mm_time at, mm_time *begun);
/* A line written around the cache. The result is the time at which the line leaves the core. */
mm_time mm_cpu_stream(mm_cpu *c, uint64_t line, mm_time at);
void mm_cpu_finish(mm_cpu *c);

/* ---- run.c ---- */

/* 0, or -1 if memory is short or a parameter is not a valid size. */
int mm_run(const mm_params *p, const mm_event *events, size_t count, const mm_work *work,
           mm_counts *counts);

#endif
