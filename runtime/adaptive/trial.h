/* trial.h: two policies against each other, in turn and in pairs.
 *
 * Other work on the machine changes its speed by more than policies do, for milliseconds or
 * seconds. So figures are compared only with figures beside them: a round is one run of calls with
 * either policy, the order changing from round to round, and gives one ratio of two medians; the
 * trial's result is the median of the ratios. What a policy writes through the cache is written
 * back when later calls need the room, and then the other policy would pay for it: a run has a
 * first part that does not count, long enough to fill a cache, and then as many bytes in pieces,
 * whose median does. A pure state machine: it is told times and says whose turn it is. */
#ifndef GFS_TRIAL_H
#define GFS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

typedef enum gfs_verdict { GFS_TRIAL_ON, GFS_TRIAL_WON, GFS_TRIAL_LOST } gfs_verdict;

typedef struct gfs_trial {
  unsigned times;              /* as long as usual are runs */
  unsigned piece;              /* of the run: 0 does not count */
  double bytes;                /* of the piece so far */
  double spent;                /* on them */
  unsigned half;               /* of the round: 0 or 1 */
  unsigned rounds;             /* that are complete */
  float time[2][GFS_RUN_MAX];  /* of a byte, by piece */
  float ratio[GFS_ROUNDS_MAX]; /* of each round: challenger over holder */
} gfs_trial;

/* `times`: how often as many bytes as options->run_bytes a run has. */
void gfs_trial_begin(gfs_trial *trial, unsigned times);

/* Is it the challenger's turn, not the holder's? */
bool gfs_trial_challenges(const gfs_trial *trial);

/* The time of a byte in the call whose turn it was, and its bytes. Won if the challenger is faster
 * by the margin: in so many rounds more than not (GFS_TRIAL_LEAD), or after options->rounds in the
 * median; lost likewise, and after three rounds if it is slower in all by more than a tenth. At
 * most 2 * options->rounds runs of options->run pieces: the first of options->run_bytes, the others
 * of as much together, each of them at least a call. */
gfs_verdict gfs_trial_feed(gfs_trial *trial, const gfsmith_adaptive_options *options, float time,
                           size_t bytes);

/* By so many rounds of equal outcome a trial is over: five in a row are 1 in 32 by chance. */
enum { GFS_TRIAL_LEAD = 5 };

/* The median of the rounds: below 1 the challenger is faster. At least one round is complete. */
float gfs_trial_ratio(const gfs_trial *trial);

/* The median of n numbers, n >= 1, at most GFS_ROUNDS_MAX; of an even number the higher of two. */
float gfs_median(const float *numbers, unsigned n);

#endif
