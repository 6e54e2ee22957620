/* model.h: cores, prefetchers and a memory device, in picoseconds of simulated time.
 *
 * One direction: run.c (cores, threads) -> cpu.c (caches, prefetcher of one core) -> device.c.
 * What is modelled and what is left out: docs/memory.md. Every parameter: bench/memory/model.toml.
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

/* What a kernel does at one place of a shard; instructions and sixteenths of cycles are those since
 * the event before it, itself included. */
typedef struct mm_event {
  uint8_t kind;
  uint8_t waiting; /* of the instructions, those that wait for what is loaded here */
  uint16_t shard;
  uint32_t offset;
  uint16_t instructions;
  uint16_t cycles16;
} mm_event;

enum { MM_LOAD, MM_PREFETCH, MM_PREFETCH_SECOND, MM_STORE, MM_STREAM, MM_WORK };

/* Stripes whose every shard is a block of `block` bytes: shards 0 .. inputs-1 and the others are
 * taken from two arrays of 2^blocks blocks, each block once, in an order without order. */
typedef struct mm_work {
  uint64_t inputs, shards, pitch, blocks, threads, stripes, warm, seed;
} mm_work;

typedef struct mm_counts {
  uint64_t events;          /* executed */
  uint64_t loaded;          /* source lines that the kernels loaded, each once a call */
  uint64_t demand;          /* reads of the device: loads and stores that missed, */
  uint64_t software;        /* software prefetches, */
  uint64_t hardware;        /* and hardware prefetches */
  uint64_t media;           /* device lines read from the media */
  uint64_t hits;            /* reads that the device's buffer answered */
  uint64_t written;         /* lines of 64 bytes written */
  uint64_t useful, useless; /* hardware prefetches that a core asked for later, or never */
  uint64_t dropped;         /* hardware prefetches without a place in the queue */
  uint64_t time;            /* picoseconds: of the slowest thread */
  double rate; /* stripes a microsecond, of all threads together, after the warm ones */
} mm_counts;

/* ---- device.c ---- */

/* What the device's buffer holds of a line: pieces that have not been read yet, one bit each. */
typedef struct mm_buffered {
  mm_time ready;
  uint64_t stamp, left;
} mm_buffered;

/* How much of its time the media work, for each slot of time as long as one line takes them:
 * requests come a little out of order, and a late one must not hold up what was asked for before
 * it. */
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
/* When the 64 bytes arrive that were asked for at `at`. */
mm_time mm_device_read(mm_device *d, uint64_t address, mm_time at);
/* When the device has taken 64 bytes. */
mm_time mm_device_write(mm_device *d, uint64_t address, mm_time at);

/* ---- cpu.c ---- */

typedef struct mm_entry {
  mm_time ready;
  uint32_t stamp;
  bool prefetched; /* and not asked for since */
} mm_entry;

typedef struct mm_cache {
  uint64_t sets, ways;
  uint32_t clock;
  uint64_t *held; /* line + 1 of each entry, 0: free */
  mm_entry *entry;
} mm_cache;

/* One page that is followed. ahead: the farthest line asked for, in the direction. */
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
/* An access to the line by a load, store or software prefetch: *begun is when it got a fill buffer,
 * the result when the line is there (in the second level for MM_PREFETCH_SECOND). */
mm_time mm_cpu_access(mm_cpu *c, uint64_t line, int kind, mm_time at, mm_time *begun);
/* A line written around the cache: when the core is rid of it. */
mm_time mm_cpu_stream(mm_cpu *c, uint64_t line, mm_time at);
void mm_cpu_finish(mm_cpu *c);

/* ---- run.c ---- */

/* 0, or -1 if memory is short or a parameter is no size for what it counts. */
int mm_run(const mm_params *p, const mm_event *events, size_t count, const mm_work *work,
           mm_counts *counts);

#endif
