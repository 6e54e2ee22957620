/* policy_search.h: the search for the best policy of a cell: section 4.1 of the paper, with trials.
 *
 * 1. Every candidate, in order, runs against the best policy so far, which is initially `default`
 * or the previous best.
 *
 * 2. Hill climbing on the distance d of the best pipelined policy, even if a policy of another kind
 * is best so far: 16 lines up (options->neighbourhood), repeated while that wins, else 16 down,
 * else half of that, down to options->step; then the same for the distance of first lines, if the
 * policy has one; then the other type of stores.
 *
 * 3. The final: the result of hill climbing, the fastest losers within GFS_FINAL_NEAR of the best,
 * and `default` run against the best, one after the other. Runs are GFS_FINAL_TIMES as long, so
 * that the last-level cache no longer holds data of the other policy, and noise has less influence.
 *
 * Step 3 can be repeated later, because other programs may have slowed the machine or used its
 * memory for the duration of a trial.
 *
 * A pure state machine: the caller passes it times, and it returns the policy of the next call. It
 * ends after options->search_calls calls at the latest, with the best policy so far. */
#ifndef GFS_POLICY_SEARCH_H
#define GFS_POLICY_SEARCH_H

#include "candidates.h"
#include "trial.h"

enum { GFS_FINAL_TIMES = 8, GFS_RIVALS_MAX = 5 };

#define GFS_FINAL_NEAR 1.2f

typedef enum gfs_search_phase {
  GFS_SEARCH_CANDIDATES,
  GFS_SEARCH_DISTANCE,
  GFS_SEARCH_FIRST,
  GFS_SEARCH_STORES,
  GFS_SEARCH_FINAL,
  GFS_SEARCH_OVER
} gfs_search_phase;

/* A policy that is not the best, with its time over that of the initial policy, by the ratio of its
 * last trial. */
typedef struct gfs_rival {
  gfs_candidate candidate;
  float score;
} gfs_rival;

typedef struct gfs_policy_search {
  gfs_candidate candidate[GFS_CANDIDATES_MAX];
  unsigned count, next;
  gfs_search_phase phase;
  gfs_candidate best;    /* best policy so far */
  gfs_candidate climber; /* best pipelined policy so far; walk GFS_WALK_DEFAULT: none */
  float best_score;      /* time over that of the initial policy, by the ratios of trials */
  float climber_score;   /* the same for the climber */
  gfs_rival rival[GFS_RIVALS_MAX]; /* policies for the final, the fastest first */
  unsigned rivals;
  gfs_candidate challenger; /* challenger of the current trial, against best, or against climber
                               during hill climbing */
  gfs_trial trial;
  unsigned calls;               /* calls so far */
  bool whole;                   /* did the search complete? */
  unsigned furthest[GFS_WALKS]; /* longest distance of each traversal order */
  unsigned step;                /* current step of hill climbing */
  int direction;                /* +1, -1 */
  unsigned moves;               /* trials of hill climbing on the current distance */
  bool moved;                   /* did a step in this direction win? */
  bool have[GFS_WALKS][2];
} gfs_policy_search;

/* The outcome of a trial. */
typedef struct gfs_outcome {
  gfs_candidate challenger, holder;
  float ratio;
  bool won;
} gfs_outcome;

typedef enum gfs_progress { GFS_SEARCH_ON, GFS_SEARCH_TRIAL_OVER, GFS_SEARCH_DONE } gfs_progress;

/* Begin with `best`, the best policy so far; if the workload does not permit it, begin with
 * `default`, the first candidate. count >= 1. */
void gfs_policy_search_begin(gfs_policy_search *search, const gfsmith_adaptive_options *options,
                             const gfs_workload *workload, gfs_candidate best);

/* Repeat the final of a completed search; does nothing after a search that was cut short. */
void gfs_policy_search_review(gfs_policy_search *search);

/* The policy of the next calls. Must not be called after the search is done. */
gfs_policy gfs_policy_search_policy(const gfs_policy_search *search);

/* Add timed calls with that policy: time per byte, number of calls, bytes. With
 * GFS_SEARCH_TRIAL_OVER the outcome is written. With GFS_SEARCH_DONE search->best is the result,
 * and *outcome is written if outcome->ratio > 0.
 */
gfs_progress gfs_policy_search_feed(gfs_policy_search *search,
                                    const gfsmith_adaptive_options *options, float time,
                                    size_t calls, size_t bytes, gfs_outcome *outcome);

#endif
