/** @file
 * A coordinator that chooses, while a program runs, how its codecs read memory;
 * docs/adaptive.md shows its use. Only in builds with it (`make adaptive`).
 *
 * Encoding from memory waits for loads. Which order of lines, which prefetch distance and which
 * stores hide that best depends on the shape, the length of the shards, the number of threads and
 * the memory. A coordinator learns it from the calls themselves: it times some of them, tries
 * policies against each other and keeps the best for each shape, length and number of threads. It
 * follows DIALGA (ICPP 2025; the sections below are of that paper).
 *
 * A policy in text:
 *
 *     default    what the library does without a coordinator
 *     plain      whole shards, without any prefetch instruction
 *     WALK[,d=LINES][,first=LINES][,nt]
 *
 * WALK is the order in which lines of 64 bytes are visited: `row` (one line of every source, then
 * the next), `rows4` (the same, in bodies of four lines), `block` (some lines of a source, then of
 * the next), `block-shuffled` and `shuffled` (the lines of a body in an order that no hardware
 * prefetcher follows). d: how many visited lines ahead software asks for, 0 to
 * GFSMITH_ADAPTIVE_DISTANCE_MAX; without it, one line of every source. first: the distance for the
 * first line of each line of the device, d then being that of the others. nt: stores around the
 * cache.
 *
 * Calls that the library takes to be in cache are left as they are: give codecs
 * GFSMITH_HINT_STREAMING if their shards are in memory (gfsmith_codec_hint).
 *
 * Results are the same bytes whatever the policy. Nothing is locked or allocated in a call.
 */
#ifndef GFSMITH_ADAPTIVE_H
#define GFSMITH_ADAPTIVE_H

#include "gfsmith.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The longest prefetch distance, in visited lines of 64 bytes. */
#define GFSMITH_ADAPTIVE_DISTANCE_MAX 4000

/** One for a program: any number of codecs and threads share it. */
typedef struct gfsmith_adaptive gfsmith_adaptive;

/** What a coordinator goes by. gfsmith_adaptive_defaults writes the values in brackets. */
typedef struct gfsmith_adaptive_options {
  size_t size; /**< bytes of this struct, as gfsmith_adaptive_defaults wrote it */

  double contention; /**< memory is contended when loads take so many times the least that was
                          seen, at least 1 [1.10; section 4.1] */
  double useless;   /**< hardware prefetches are inefficient when useless ones of a byte are so many
                         times the least that was seen, at least 1 [1.50; section 4.1] */
  unsigned threads; /**< the most threads before hardware prefetchers are stopped by order; 0:
                         what equation (1) says of the device [0; section 4.1 has 12 for its] */
  unsigned page; /**< bytes, a power of two from 256: shards of a multiple of it keep the hardware
                      prefetcher, which does not cross it [4096; section 4.1] */

  double moved;           /**< search again when the time of a byte moves by this part, 0.01 to 10
                               [0.10; section 4.1] */
  unsigned neighbourhood; /**< lines around the distance at hand that hill climbing looks at,
                               1 to 1024 [16; section 4.1] */
  unsigned step; /**< its finest step, in lines, 1 to neighbourhood [4: below that no difference
                      was measured that noise would not hide] */
  unsigned first_extra; /**< the distance of first lines to begin with is k and so many lines, at
                           most 1024 [4; section 4.3.2] */

  unsigned sample; /**< of a thread's calls, every so-many-th is timed, 1 to 65536; up to 16 times
                        fewer if they are short: two a millisecond are enough [64] */
  unsigned run;    /**< pieces, of a call or more, that a run with one policy in a trial has, of
                        which the first is not counted, 2 to 33 [8] */
  unsigned run_bytes; /**< bytes of sources of the first piece, and of the others together, at
                           least; 1 to 2^30 [4 MiB: what a policy leaves in a core's own cache for
                           the next one to write back is then over, and in what is counted] */
  unsigned rounds;    /**< a trial has at most so many rounds, a run of each policy, 3 to 63 [15] */
  double margin;      /**< a policy must be faster by this part to win, 0 to 0.5 [0.01] */
  unsigned search_calls; /**< timed calls after which a search ends with the best it knows, from 1
                              [16777216] */
  unsigned window;       /**< samples whose median is watched once a search is over, one a
                              millisecond at most, 3 to 63 [15] */
  unsigned patience;  /**< times as long as a search took there is no other one: 20 keeps searching
                           below a twentieth of the time; doubled after each that changed nothing,
                           up to 64 times as many; 0 to 1000 [20] */
  unsigned review_ms; /**< milliseconds after a search its last trials are run once more; 16 times
                           as many after each that changed nothing; 0: never; at most 3600000
                           [250: other programs slow the machine for milliseconds to seconds] */
  unsigned idle_ms;   /**< milliseconds after which a thread that has not been seen counts as gone,
                           from 1 [100] */

  unsigned counters; /**< 1: use the processor's counters where they can be had; 0: time only [1] */
  unsigned rate;     /**< how often they are read, in Hz, 1 to 1000 [1000; section 4.1] */

  const char *trace;  /**< a file for what is decided and why, JSON lines; NULL: none */
  const char *device; /**< a description of the memory, TOML; NULL: DRAM */
  const char *policy; /**< run with this policy and do not adapt; NULL: adapt */
} gfsmith_adaptive_options;

/** Write the defaults.
 *
 * @param options all of it is written; NULL is allowed and does nothing */
GFSMITH_API void gfsmith_adaptive_defaults(gfsmith_adaptive_options *options);

/** Create a coordinator.
 *
 * With options NULL: the defaults, with what the environment has of GFSMITH_ADAPT_TRACE,
 * GFSMITH_ADAPT_DEVICE and GFSMITH_ADAPT_POLICY. What cannot be used (a file that cannot be read or
 * written, an unknown policy in the environment, counters that the system does not give) is said
 * once on stderr and in the trace, and it goes on without.
 *
 * @param out *out is the coordinator, or NULL on error
 * @param options NULL, or what gfsmith_adaptive_defaults wrote, changed
 * @return GFSMITH_EINVAL (out NULL, a field out of its range, an unknown policy), GFSMITH_ENOMEM */
GFSMITH_API gfsmith_status gfsmith_adaptive_create(gfsmith_adaptive **out,
                                                   const gfsmith_adaptive_options *options);

/** Destroy a coordinator, after all codecs and plans that use it.
 *
 * @param adaptive may be NULL, and nothing is done */
GFSMITH_API void gfsmith_adaptive_destroy(gfsmith_adaptive *adaptive);

/** Have a codec's encoding and repairs coordinated, and the plans that are made of it later.
 *
 * Before the codec is shared between threads. Packet layout, updates and checks stay as they are.
 *
 * @param codec the codec
 * @param adaptive the coordinator; NULL: none
 * @return GFSMITH_EINVAL (codec NULL), GFSMITH_ENOMEM; the codec is as it was then */
GFSMITH_API gfsmith_status gfsmith_codec_adaptive(gfsmith_codec *codec, gfsmith_adaptive *adaptive);

/** Run all calls with one policy. Where a call cannot (no such kernel for its shape), it does what
 * `default` does. From any thread, at any time.
 *
 * @param adaptive the coordinator
 * @param policy its text; NULL: adapt again, with what had been learnt
 * @return GFSMITH_EINVAL (adaptive NULL, an unknown policy) */
GFSMITH_API gfsmith_status gfsmith_adaptive_force(gfsmith_adaptive *adaptive, const char *policy);

/** The policy with which this codec would encode shards of this length now, as text.
 *
 * @param adaptive the coordinator
 * @param codec a codec that it coordinates
 * @param len bytes of every shard
 * @param text where it goes, ended by a zero byte, cut if it is longer
 * @param size bytes there; 64 are enough for every policy; may be 0
 * @return its length without the zero byte, whatever `size` is; 0 if there is none: an argument
 *     NULL, another coordinator's codec, shards that are taken to be in cache, or a length that
 *     was not met yet */
GFSMITH_API size_t gfsmith_adaptive_policy(const gfsmith_adaptive *adaptive,
                                           const gfsmith_codec *codec, size_t len, char *text,
                                           size_t size);

#ifdef __cplusplus
}
#endif

#endif /* GFSMITH_ADAPTIVE_H */
