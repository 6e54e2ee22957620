/* trial.h: the timing of calls, and the comparison of two policies. Pure state machines: the caller
 * passes times.
 *
 * Batches. Reading the clock waits for earlier instructions, so short calls that are timed one by
 * one do not overlap as they do otherwise: policies that gain from overlap looked half as fast
 * as others where they are 1.75 times as fast (4+4 with 256-byte shards, Zen 4). A
 * searching thread therefore times consecutive calls together. The time that the program spends
 * between the calls then counts for every policy alike. If this time exceeds that of the calls, or
 * calls of other cells come between, calls are timed one by one: they do not overlap in such a
 * program.
 *
 * Trials. Other work on the machine changes its speed by more than policies do, for milliseconds or
 * seconds. Therefore only neighbouring measurements are compared: a round is one run of each
 * policy, in alternating order, and gives the ratio of the two medians; the result of the trial is
 * the median of the ratios. Lines that one policy wrote through the cache are written back when
 * later calls need the space, at the cost of the other policy. Therefore a run has a first part
 * that is not counted, long enough to fill a cache, followed by as many bytes in pieces, whose
 * median is counted. */
#ifndef GFS_TRIAL_H
#define GFS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

/* Least number of source bytes in a batch. */
enum { GFS_BATCH_BYTES = 64 << 10 };

typedef struct gfs_batch {
  uint64_t begin_ns; /* begin of its first call */
  uint64_t end_ns;   /* end of the previous batch; 0: other calls came between */
  uint64_t call_ns;  /* average time of a call in the previous batch */
  unsigned calls;    /* calls so far */
  size_t stripes;    /* of these calls; a call that is not a batch call has one */
  unsigned wanted;   /* calls of a complete batch */
} gfs_batch;

/* Must the clock be read before this call? */
static inline bool gfs_batch_begins(const gfs_batch *batch) { return batch->calls == 0; }

/* The first call begins now and reads this number of source bytes. */
void gfs_batch_begin(gfs_batch *batch, uint64_t now_ns, size_t bytes);

/* After a call on this number of stripes: is the batch complete? The clock must then be read. */
static inline bool gfs_batch_ends(gfs_batch *batch, size_t stripes) {
  batch->stripes += stripes;
  return ++batch->calls >= batch->wanted;
}

/* The batch ends now. Return its number of stripes. */
size_t gfs_batch_end(gfs_batch *batch, uint64_t now_ns);

/* Number of calls until the next timed call, including it, while no search is running: every
 * `sample`-th; for short calls up to 16 times fewer, two per millisecond, because at most one per
 * millisecond is evaluated. */
uint32_t gfs_batch_rest(const gfs_batch *batch, uint32_t sample);

/* Other calls came between: discard the incomplete batch. */
static inline void gfs_batch_break(gfs_batch *batch) {
  batch->calls = 0;
  batch->stripes = 0;
  batch->end_ns = 0;
}

typedef enum gfs_verdict { GFS_TRIAL_ON, GFS_TRIAL_WON, GFS_TRIAL_LOST } gfs_verdict;

typedef struct gfs_trial {
  unsigned times;              /* length of runs, as a multiple of the usual length */
  unsigned piece;              /* current piece of the run: 0 is not counted */
  double bytes;                /* source bytes of the piece so far */
  double spent;                /* nanoseconds of the piece so far */
  unsigned half;               /* current half of the round: 0 or 1 */
  unsigned rounds;             /* complete rounds */
  float time[2][GFS_RUN_MAX];  /* time per byte, by piece */
  float ratio[GFS_ROUNDS_MAX]; /* challenger over holder, by round */
} gfs_trial;

/* Begin a trial. `times`: length of a run as a multiple of options->run_bytes. */
void gfs_trial_begin(gfs_trial *trial, unsigned times);

/* Does the challenger run now, not the holder? */
bool gfs_trial_challenges(const gfs_trial *trial);

/* Add the time per byte and the bytes of a call with the current policy. The challenger wins if it
 * is faster by the margin: in GFS_TRIAL_LEAD more rounds than not, or by the median after
 * options->rounds rounds. It loses likewise, and after three rounds if it is slower by more than a
 * tenth in all of them. There are at most 2 * options->rounds runs of options->run pieces: the
 * first piece has options->run_bytes bytes, the others together as many, and each at least one
 * call. */
gfs_verdict gfs_trial_feed(gfs_trial *trial, const gfsmith_adaptive_options *options, float time,
                           size_t bytes);

/* Difference of won and lost rounds that ends a trial: five in a row occur by chance with
 * probability 1/32. */
enum { GFS_TRIAL_LEAD = 5 };

/* The median of the rounds: below 1 the challenger is faster. At least one round must be
 * complete. */
float gfs_trial_ratio(const gfs_trial *trial);

/* The median of n numbers, 1 <= n <= GFS_ROUNDS_MAX; the higher of the two middle ones if n is
 * even. */
float gfs_median(const float *numbers, unsigned n);

#endif
