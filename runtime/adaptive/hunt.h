/* hunt.h: the search for the best policy of a cell: section 4.1 of the paper, with trials.
 *
 * 1. Each candidate in order against the best so far, which `default` or what was best before
 *    begins as.
 * 2. Hill climbing on the distance d of the best pipelined policy, even if another kind is best so
 *    far: 16 lines up (options->neighbourhood), again as long as that wins, else 16 down, else half
 *    of that, down to options->step; then the same on the distance of first lines, if it has one;
 *    then its stores the other way.
 * 3. What it has climbed to, the fastest that have lost so far and are within GFS_FINAL_NEAR of the
 *    best, and `default`, one after the other against the best; in runs that are GFS_FINAL_TIMES as
 *    long, so that a last-level cache has forgotten the other one, and noise counts for less.
 *
 * Point 3 can be had again later: other programs that slow the machine, or load its memory, may
 * have been there for as long as a trial was.
 *
 * A pure state machine: it is told times and says with what policy the next call is to run. It ends
 * after options->search_calls calls at the latest, with the best so far. */
#ifndef GFS_HUNT_H
#define GFS_HUNT_H

#include "situation.h"
#include "trial.h"

enum { GFS_FINAL_TIMES = 8, GFS_RIVALS_MAX = 5 };

#define GFS_FINAL_NEAR 1.2f

typedef enum gfs_hunt_phase {
  GFS_HUNT_CANDIDATES,
  GFS_HUNT_DISTANCE,
  GFS_HUNT_FIRST,
  GFS_HUNT_STORES,
  GFS_HUNT_FINAL,
  GFS_HUNT_OVER
} gfs_hunt_phase;

/* A policy that is not the best, and its time over that of what was best at first, by the ratio of
 * its last trial. */
typedef struct gfs_rival {
  gfs_candidate candidate;
  float score;
} gfs_rival;

typedef struct gfs_hunt {
  gfs_candidate candidate[GFS_CANDIDATES_MAX];
  unsigned count, next;
  gfs_hunt_phase phase;
  gfs_candidate best;    /* so far */
  gfs_candidate climber; /* the best pipelined one so far; walk GFS_WALK_DEFAULT: none */
  float best_score;      /* time over that of what was best at first, by the trials' ratios */
  float climber_score;   /* the same */
  gfs_rival rival[GFS_RIVALS_MAX]; /* for the final, the fastest first */
  unsigned rivals;
  gfs_candidate challenger; /* of the trial that is on: against best, or climber while climbing */
  gfs_trial trial;
  unsigned calls;               /* so far */
  bool whole;                   /* did it end by itself? */
  unsigned furthest[GFS_WALKS]; /* the longest distances */
  unsigned step;                /* of climbing */
  int direction;                /* +1, -1 */
  unsigned moves;               /* trials of climbing on one distance */
  bool moved;                   /* did a step this way win? */
  bool have[GFS_WALKS][2];
} gfs_hunt;

/* What a trial came to. */
typedef struct gfs_outcome {
  gfs_candidate challenger, holder;
  float ratio;
  bool won;
} gfs_outcome;

typedef enum gfs_progress { GFS_HUNT_ON, GFS_HUNT_TRIAL_OVER, GFS_HUNT_DONE } gfs_progress;

/* Begin with what is best so far; if it is not among the candidates, `default` is, and so it is
 * tried. count >= 1. */
void gfs_hunt_begin(gfs_hunt *hunt, const gfsmith_adaptive_options *options,
                    const gfs_situation *situation, gfs_candidate best);

/* Once more, the best against its rivals, when a search is over; after one that was cut short there
 * is nothing to do. */
void gfs_hunt_review(gfs_hunt *hunt);

/* The policy of the next calls. Only before it is done. */
gfs_policy gfs_hunt_policy(const gfs_hunt *hunt);

/* The time of a byte of calls with it, how many they were, and their bytes. With
 * GFS_HUNT_TRIAL_OVER the outcome is written, and with GFS_HUNT_DONE hunt->best is the result; then
 * *outcome is written if outcome->ratio > 0.
 */
gfs_progress gfs_hunt_feed(gfs_hunt *hunt, const gfsmith_adaptive_options *options, float time,
                           unsigned calls, size_t bytes, gfs_outcome *outcome);

#endif
