/** @file
 * Adaptive prefetching: a coordinator that chooses, while the program runs, how codecs read memory.
 * docs/adaptive.md shows its use. Only builds with the coordinator (`make adaptive`) have these
 * functions.
 *
 * Encoding shards that are not in cache waits for loads. The traversal order, the prefetch distance
 * and the type of stores that hide this latency best depend on the shape, the shard length, the
 * number of threads and the memory. The coordinator times some of the program's calls, compares
 * policies in trials and keeps the fastest policy for each shape, length, number of threads and
 * level of contention. The method is that of DIALGA (ICPP 2025; the sections cited below are of
 * that paper).
 *
 * A policy has one of these forms:
 *
 *     default    the library's behaviour without a coordinator
 *     plain      whole shards, without prefetch instructions
 *     ORDER[,d=LINES][,first=LINES][,nt][,pages]
 *
 * ORDER is the order in which the kernel reads lines of 64 bytes:
 *
 *     `row`             one line of every source, then the next line of every source
 *     `rows4`           the same with four lines of every source at a time
 *     `block`           some lines of one source, then as many lines of the next source
 *     `block-shuffled`  as block, with the lines in an order that no hardware prefetcher follows
 *     `shuffled`        the lines of all sources in an order that no hardware prefetcher follows
 *
 * d is the prefetch distance: the number of lines between the line that is read and the line that
 * is prefetched, 0 to GFSMITH_ADAPTIVE_DISTANCE_MAX; without d it is k, one line of every source.
 * first is the distance for the first 64 bytes of each line of the device, if the device has longer
 * lines; d is then the distance for the others. nt selects non-temporal stores. pages uses `row`,
 * `rows4` or `block` for the whole pages of every shard, and the shuffled order for the rest.
 *
 * The coordinator does not change calls whose shards the library assumes to be in cache. Set
 * GFSMITH_HINT_STREAMING on a codec whose shards are in memory (gfsmith_codec_hint).
 *
 * The policy does not affect the results. Calls take no locks and allocate no memory.
 */
#ifndef GFSMITH_ADAPTIVE_H
#define GFSMITH_ADAPTIVE_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The longest prefetch distance, in lines of 64 bytes. */
#define GFSMITH_ADAPTIVE_DISTANCE_MAX 4000

/** A coordinator. One is enough for a program: any number of codecs and threads share it. */
typedef struct gfsmith_adaptive gfsmith_adaptive;

/** Options of a coordinator. gfsmith_adaptive_defaults writes the values in brackets. */
typedef struct gfsmith_adaptive_options {
  /** Size of this struct in bytes, as written by gfsmith_adaptive_defaults */
  size_t size;

  /** Load latency, relative to the least measured, from which memory counts as contended; 1 to 1000
   * [1.10; section 4.1] */
  double contention;
  /** Useless hardware prefetches per byte, relative to the least measured, from which hardware
   * prefetching counts as inefficient; 1 to 1000 [1.50; section 4.1] */
  double useless;
  /** Number of threads above which contention counts as high; 0: the limit of equation (1) for the
   * device [0; section 4.1 uses 12 for its device] */
  unsigned threads;
  /** Bytes, a power of two, 256 to 2^30; shard lengths that are multiples of it keep the hardware
   * prefetcher on, which does not cross pages [4096; section 4.1] */
  unsigned page;

  /** Relative change of the time per byte that starts a new search, 0.01 to 10 [0.10; section
   * 4.1] */
  double moved;
  /** Lines around the current distance that hill climbing searches, 1 to 1024 [16; section 4.1] */
  unsigned neighbourhood;
  /** Finest step of hill climbing in lines, 1 to neighbourhood [4: measured differences below it
   * were within the noise] */
  unsigned step;
  /** The search for `first` begins at k plus this number of lines, 0 to 1024 [4; section 4.3.2] */
  unsigned first_extra;

  /** Every sample-th call of a thread is timed, 1 to 65536; short calls up to 16 times less often,
   * about two per millisecond [64] */
  unsigned sample;
  /** Pieces in one run of a policy, each of at least one call; the first piece is not counted; 2 to
   * 33 [8] */
  unsigned run;
  /** Least number of source bytes in the first piece, and in the others together, 1 to 2^30 [4 MiB:
   * the lines that the previous policy left dirty in the core's own cache are then written back
   * during the first piece, and those of this policy during the others] */
  unsigned run_bytes;
  /** Most rounds of a trial, each with one run of each policy, 3 to 63 [15] */
  unsigned rounds;
  /** Fraction by which a policy must be faster to win, 0 to 0.5 [0.01] */
  double margin;
  /** Number of timed calls after which a search ends with the best policy so far, from 1
   * [16777216] */
  unsigned search_calls;
  /** Number of samples whose median is monitored after a search, at most one sample per
   * millisecond, 3 to 63 [15] */
  unsigned window;
  /** Least pause after a search, as a multiple of its duration: 20 keeps searches below a twentieth
   * of the time; doubled after each search without a change, at most 64 times as long; 0 to 1000
   * [20] */
  unsigned patience;
  /** Milliseconds after a search until its last trials are repeated; multiplied by 16 after each
   * repetition without a change; 0: never; at most 3600000 [250: other programs slow the machine
   * for milliseconds to seconds] */
  unsigned review_ms;
  /** Milliseconds without a timed call after which a thread counts as inactive, 1 to 3600000
   * [100] */
  unsigned idle_ms;

  /** 1: use the CPU's performance counters if they are available; 0: use times only [1] */
  unsigned counters;
  /** Frequency in Hz at which the counters are read, 1 to 1000 [1000; section 4.1] */
  unsigned rate;

  /** Path of a file for the trace (JSON lines: decisions and their reasons); NULL: no trace */
  const char *trace;
  /** Path of a description of the memory (TOML); NULL: DRAM */
  const char *device;
  /** Run with this policy and do not adapt; NULL: adapt */
  const char *policy;
} gfsmith_adaptive_options;

/** Write the default options.
 *
 * @param options overwritten completely; NULL is allowed and does nothing */
GFSMITH_API void gfsmith_adaptive_defaults(gfsmith_adaptive_options *options);

/** Create a coordinator.
 *
 * With options NULL the coordinator uses the defaults and the environment variables
 * GFSMITH_ADAPT_TRACE, GFSMITH_ADAPT_DEVICE and GFSMITH_ADAPT_POLICY. If a file cannot be read or
 * written, the environment names an unknown policy, or the system gives no access to the counters,
 * the coordinator reports it once, on stderr and in the trace, and works without it.
 *
 * @param out where the coordinator goes; on failure *out = NULL
 * @param options options initialized by gfsmith_adaptive_defaults, or NULL
 * @return GFSMITH_EINVAL (out NULL, a field out of range, an unknown policy), GFSMITH_ENOMEM */
GFSMITH_API gfsmith_status gfsmith_adaptive_create(gfsmith_adaptive **out,
                                                   const gfsmith_adaptive_options *options);

/** Destroy a coordinator. All codecs and plans that use it must have been destroyed before.
 *
 * @param adaptive may be NULL, and nothing is done */
GFSMITH_API void gfsmith_adaptive_destroy(gfsmith_adaptive *adaptive);

/** Attach a coordinator to a codec: to its encoding and repairs, and to the plans created from it
 * afterwards. Updates, checks and packet layout are not coordinated.
 *
 * This must be called before the codec is shared between threads.
 *
 * @param codec the codec
 * @param adaptive the coordinator; NULL detaches the codec from its coordinator
 * @return GFSMITH_EINVAL (codec NULL), GFSMITH_ENOMEM; the codec is unchanged then */
GFSMITH_API gfsmith_status gfsmith_codec_adaptive(gfsmith_codec *codec, gfsmith_adaptive *adaptive);

/** Run all calls with one policy. Calls for which the build has no kernel with this policy run with
 * `default`. This may be called from any thread at any time.
 *
 * @param adaptive the coordinator
 * @param policy a policy; NULL: adapt again, beginning with the policies found before
 * @return GFSMITH_EINVAL (adaptive NULL, an unknown policy) */
GFSMITH_API gfsmith_status gfsmith_adaptive_force(gfsmith_adaptive *adaptive, const char *policy);

/** Get the policy with which the codec would encode one stripe of this length now.
 *
 * @param adaptive the coordinator
 * @param codec a codec attached to it
 * @param len bytes of every shard
 * @param text where the policy goes, terminated by a zero byte and truncated to `size`
 * @param size bytes of `text`; 64 are enough for every policy; may be 0
 * @return the length of the policy without the zero byte, even if it was truncated; 0 if there is
 *     none: an argument is NULL, the codec is attached to another coordinator, the shards are
 *     assumed to be in cache, or no call has had this length yet */
GFSMITH_API size_t gfsmith_adaptive_policy(const gfsmith_adaptive *adaptive,
                                           const gfsmith_codec *codec, size_t len, char *text,
                                           size_t size);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_ADAPTIVE_H */
