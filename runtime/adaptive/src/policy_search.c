#include "policy_search.h"

#include <math.h>
#include <string.h>

#include "sizes.h"

/* Most trials of hill climbing on one distance. */
enum { MOVES_MAX = 16 };

static bool same_policy(gfs_policy a, gfs_policy b) {
  return gfs_policy_pack(a) == gfs_policy_pack(b);
}

static bool has_climber(const gfs_policy_search *search) {
  return search->climber.policy.walk >= GFS_WALK_PIPELINED;
}

static void challenge(gfs_policy_search *search, gfs_policy policy, const char *why) {
  search->challenger = (gfs_candidate){policy, why};
  gfs_trial_begin(&search->trial, search->phase == GFS_SEARCH_FINAL ? GFS_FINAL_TIMES : 1);
}

static bool next_candidate(gfs_policy_search *search) {
  while (search->next < search->count) {
    const gfs_candidate *candidate = &search->candidate[search->next++];
    if (!same_policy(candidate->policy, search->best.policy)) {
      challenge(search, candidate->policy, candidate->why);
      return true;
    }
  }
  return false;
}

/* The distance that is being optimized. */
static unsigned *knob(gfs_policy_search *search, gfs_policy *policy) {
  return search->phase == GFS_SEARCH_FIRST ? &policy->first : &policy->distance;
}

/* A step did not win or was not possible: reverse the direction, or halve the step. */
static void turn(gfs_policy_search *search) {
  if (search->direction > 0 && !search->moved) {
    search->direction = -1;
    return;
  }
  search->direction = 1;
  search->moved = false;
  search->step /= 2;
}

static bool next_step(gfs_policy_search *search, const gfsmith_adaptive_options *options) {
  for (; search->step >= options->step && search->step > 0 && search->moves < MOVES_MAX;
       turn(search)) {
    gfs_policy policy = search->climber.policy;
    unsigned *distance = knob(search, &policy);
    unsigned least = search->phase == GFS_SEARCH_FIRST ? 1 : 0;
    if (search->direction > 0 ? *distance + search->step > search->furthest[policy.walk]
                              : *distance < search->step + least)
      continue;
    *distance = search->direction > 0 ? *distance + search->step : *distance - search->step;
    search->moves++;
    challenge(search, policy,
              search->phase == GFS_SEARCH_FIRST ? "hill climbing on the distance of first lines"
                                                : "hill climbing on the distance");
    return true;
  }
  return false;
}

static void begin_climbing(gfs_policy_search *search, const gfsmith_adaptive_options *options,
                           gfs_search_phase phase) {
  search->phase = phase;
  search->step = options->neighbourhood;
  search->direction = 1;
  search->moves = 0;
  search->moved = false;
}

static bool other_stores(gfs_policy_search *search) {
  gfs_policy policy = search->climber.policy;
  policy.streaming = !policy.streaming;
  if (!search->have[policy.walk][policy.streaming])
    return false;
  challenge(search, policy, "the other type of stores");
  return true;
}

/* Keep a policy for the final if it is among the fastest. The candidates leave two places of the
 * final to the climber and to `default`. */
static void note_rival(gfs_policy_search *search, gfs_candidate candidate, float score,
                       unsigned places) {
  unsigned at = search->rivals;
  for (unsigned n = 0; n < search->rivals; n++)
    if (same_policy(search->rival[n].candidate.policy, candidate.policy))
      return;
  for (; at > 0 && search->rival[at - 1].score > score; at--)
    if (at < places)
      search->rival[at] = search->rival[at - 1];
  if (at >= places)
    return;
  search->rival[at] = (gfs_rival){candidate, score};
  search->rivals += search->rivals < places;
}

/* Set up a trial of the next rival against the best, in long runs. False: there is none. */
static bool next_rival(gfs_policy_search *search) {
  while (search->next < search->rivals) {
    const gfs_rival *rival = &search->rival[search->next++];
    bool close = rival->score <= search->best_score * GFS_FINAL_NEAR ||
                 rival->candidate.policy.walk == GFS_WALK_DEFAULT;
    if (close && !same_policy(rival->candidate.policy, search->best.policy)) {
      challenge(search, rival->candidate.policy, rival->candidate.why);
      return true;
    }
  }
  return false;
}

/* Set up the next trial of the final, or end the search. */
static void next_final(gfs_policy_search *search) {
  if (next_rival(search))
    return;
  search->phase = GFS_SEARCH_OVER;
  search->whole = true;
}

static void begin_final(gfs_policy_search *search) {
  const gfs_candidate *best = &search->best, *unasked = &search->candidate[0];
  if (has_climber(search) && !same_policy(best->policy, search->climber.policy))
    note_rival(search, search->climber, 0, GFS_RIVALS_MAX - 1);
  if (!same_policy(best->policy, unasked->policy))
    note_rival(search, *unasked, INFINITY, GFS_RIVALS_MAX);
  search->phase = GFS_SEARCH_FINAL;
  search->next = 0;
}

/* Set up the next trial, or end the search. */
static void advance(gfs_policy_search *search, const gfsmith_adaptive_options *options) {
  if (search->phase == GFS_SEARCH_CANDIDATES) {
    if (next_candidate(search))
      return;
    begin_climbing(search, options, has_climber(search) ? GFS_SEARCH_DISTANCE : GFS_SEARCH_STORES);
  }
  if (search->phase == GFS_SEARCH_DISTANCE) {
    if (next_step(search, options))
      return;
    begin_climbing(search, options, GFS_SEARCH_FIRST);
  }
  if (search->phase == GFS_SEARCH_FIRST) {
    if (search->climber.policy.first > 0 && next_step(search, options))
      return;
    search->phase = GFS_SEARCH_STORES;
    if (other_stores(search))
      return;
  }
  if (search->phase == GFS_SEARCH_STORES)
    begin_final(search);
  next_final(search);
}

void gfs_policy_search_begin(gfs_policy_search *search, const gfsmith_adaptive_options *options,
                             const gfs_workload *workload, gfs_candidate best) {
  memset(search, 0, sizeof *search);
  memcpy(search->have, workload->have, sizeof search->have);
  search->count = gfs_candidates_write(workload, options, search->candidate);
  size_t lines = gfs_workload_lines(workload);
  for (gfs_walk_kind walk = 0; walk < GFS_WALKS; walk++)
    search->furthest[walk] =
        (unsigned)gfs_least(gfs_distance_furthest(workload, walk, true), lines);
  bool can = best.policy.walk < GFS_WALK_PIPELINED ||
             (workload->have[best.policy.walk][best.policy.streaming] &&
              best.policy.distance <= search->furthest[best.policy.walk]);
  search->best = can ? best : search->candidate[0];
  search->best_score = search->climber_score = 1;
  if (search->best.policy.walk >= GFS_WALK_PIPELINED)
    search->climber = search->best;
  advance(search, options);
}

void gfs_policy_search_review(gfs_policy_search *search) {
  if (!search->whole)
    return;
  for (unsigned n = 0; n < search->rivals; n++)
    search->rival[n].score /= search->best_score;
  search->best_score = 1;
  search->calls = search->next = 0;
  search->whole = false;
  search->phase = GFS_SEARCH_FINAL;
  next_final(search);
}

static bool climbing(const gfs_policy_search *search) {
  return search->phase >= GFS_SEARCH_DISTANCE && search->phase <= GFS_SEARCH_STORES;
}

static const gfs_candidate *holder(const gfs_policy_search *search) {
  return climbing(search) ? &search->climber : &search->best;
}

gfs_policy gfs_policy_search_policy(const gfs_policy_search *search) {
  if (search->phase == GFS_SEARCH_OVER)
    return search->best.policy;
  return gfs_trial_challenges(&search->trial) ? search->challenger.policy : holder(search)->policy;
}

/* Evaluate a finished trial. */
static void conclude_trial(gfs_policy_search *search, const gfs_outcome *outcome) {
  if (climbing(search)) {
    if (outcome->won)
      search->climber = outcome->challenger;
    if (search->phase == GFS_SEARCH_STORES)
      return;
    search->moved = search->moved || outcome->won;
    if (!outcome->won)
      turn(search);
    return;
  }
  float score = search->best_score * outcome->ratio;
  if (search->phase == GFS_SEARCH_CANDIDATES &&
      outcome->challenger.policy.walk >= GFS_WALK_PIPELINED &&
      (!has_climber(search) || score < search->climber_score)) {
    search->climber = outcome->challenger;
    search->climber_score = score;
  }
  const gfs_candidate *lost = outcome->won ? &outcome->holder : &outcome->challenger;
  gfs_rival beaten = {*lost, outcome->won ? search->best_score : score};
  if (search->phase == GFS_SEARCH_CANDIDATES)
    note_rival(search, beaten.candidate, beaten.score, GFS_RIVALS_MAX - 2);
  else
    search->rival[search->next - 1] = beaten;
  if (outcome->won) {
    search->best = outcome->challenger;
    search->best_score = score;
  }
}

gfs_progress gfs_policy_search_feed(gfs_policy_search *search,
                                    const gfsmith_adaptive_options *options, float time,
                                    size_t calls, size_t bytes, gfs_outcome *outcome) {
  outcome->ratio = 0;
  gfs_verdict verdict = GFS_TRIAL_ON;
  if (search->phase != GFS_SEARCH_OVER) {
    search->calls += (unsigned)gfs_least(calls, options->search_calls);
    verdict = gfs_trial_feed(&search->trial, options, time, bytes);
  }
  if (verdict != GFS_TRIAL_ON) {
    *outcome = (gfs_outcome){search->challenger, *holder(search), gfs_trial_ratio(&search->trial),
                             verdict == GFS_TRIAL_WON};
    conclude_trial(search, outcome);
    advance(search, options);
  }
  if (search->calls >= options->search_calls)
    search->phase = GFS_SEARCH_OVER;
  if (search->phase == GFS_SEARCH_OVER)
    return GFS_SEARCH_DONE;
  return verdict == GFS_TRIAL_ON ? GFS_SEARCH_ON : GFS_SEARCH_TRIAL_OVER;
}
