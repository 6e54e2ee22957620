/* batch.h: how many calls of a search are timed together.
 *
 * Reading a clock waits for what went before, so short calls that are timed one by one do not
 * overlap as they do otherwise: policies that live by it lost by half where they win by three
 * quarters (4+4 with 256-byte shards, Zen 4). So the thread that searches reads the clock around
 * calls that follow one another at once; what a program does between them is then in the time of
 * every policy alike. Where it does more than the calls themselves take, or calls for other cells,
 * calls are timed one by one: they do not overlap there. A pure state machine. */
#ifndef GFS_BATCH_H
#define GFS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of sources that a batch has at least. */
enum { GFS_BATCH_BYTES = 64 << 10 };

typedef struct gfs_batch {
  uint64_t begin_ns; /* of its first call */
  uint64_t end_ns;   /* of the batch before; 0: something else came between */
  uint64_t call_ns;  /* of a call of the batch before, on average */
  unsigned calls;    /* so far */
  unsigned wanted;   /* of which it consists */
} gfs_batch;

/* Is a clock to be read before the call? */
static inline bool gfs_batch_begins(const gfs_batch *batch) { return batch->calls == 0; }

/* The first call begins now and has so many bytes of sources. */
void gfs_batch_begin(gfs_batch *batch, uint64_t now_ns, size_t bytes);

/* A call is over: is the batch? Then a clock is to be read. */
static inline bool gfs_batch_ends(gfs_batch *batch) { return ++batch->calls >= batch->wanted; }

/* It ended now. Returns how many calls it had. */
unsigned gfs_batch_end(gfs_batch *batch, uint64_t now_ns);

/* Calls until one is timed again, that one included, when nothing is searched for: every
 * `sample`-th; of short calls up to 16 times fewer, two a millisecond, as no more than one is
 * looked at. */
uint32_t gfs_batch_rest(const gfs_batch *batch, uint32_t sample);

/* Something else comes between: what was timed of it is lost. */
static inline void gfs_batch_break(gfs_batch *batch) { batch->calls = 0, batch->end_ns = 0; }

#endif
