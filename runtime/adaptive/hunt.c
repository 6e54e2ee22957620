#include "hunt.h"

#include <math.h>
#include <string.h>

#include "sizes.h"

/* Trials of climbing on one distance. */
enum { MOVES_MAX = 16 };

static bool same_policy(gfs_policy a, gfs_policy b) {
  return gfs_policy_pack(a) == gfs_policy_pack(b);
}

static bool has_climber(const gfs_hunt *hunt) {
  return hunt->climber.policy.walk >= GFS_WALK_PIPELINED;
}

static void challenge(gfs_hunt *hunt, gfs_policy policy, const char *why) {
  hunt->challenger = (gfs_candidate){policy, why};
  gfs_trial_begin(&hunt->trial, hunt->phase == GFS_HUNT_FINAL ? GFS_FINAL_TIMES : 1);
}

static bool next_candidate(gfs_hunt *hunt) {
  while (hunt->next < hunt->count) {
    const gfs_candidate *candidate = &hunt->candidate[hunt->next++];
    if (!same_policy(candidate->policy, hunt->best.policy)) {
      challenge(hunt, candidate->policy, candidate->why);
      return true;
    }
  }
  return false;
}

/* The distance that is climbed on. */
static unsigned *knob(gfs_hunt *hunt, gfs_policy *policy) {
  return hunt->phase == GFS_HUNT_FIRST ? &policy->first : &policy->distance;
}

/* A step did not win, or was not possible: the other way, or half as far. */
static void turn(gfs_hunt *hunt) {
  if (hunt->direction > 0 && !hunt->moved) {
    hunt->direction = -1;
    return;
  }
  hunt->direction = 1;
  hunt->moved = false;
  hunt->step /= 2;
}

static bool next_step(gfs_hunt *hunt, const gfsmith_adaptive_options *options) {
  for (; hunt->step >= options->step && hunt->step > 0 && hunt->moves < MOVES_MAX; turn(hunt)) {
    gfs_policy policy = hunt->climber.policy;
    unsigned *distance = knob(hunt, &policy);
    unsigned least = hunt->phase == GFS_HUNT_FIRST ? 1 : 0;
    if (hunt->direction > 0 ? *distance + hunt->step > hunt->furthest[policy.walk]
                            : *distance < hunt->step + least)
      continue;
    *distance = hunt->direction > 0 ? *distance + hunt->step : *distance - hunt->step;
    hunt->moves++;
    challenge(hunt, policy,
              hunt->phase == GFS_HUNT_FIRST ? "hill climbing on the distance of first lines"
                                            : "hill climbing on the distance");
    return true;
  }
  return false;
}

static void begin_climbing(gfs_hunt *hunt, const gfsmith_adaptive_options *options,
                           gfs_hunt_phase phase) {
  hunt->phase = phase;
  hunt->step = options->neighbourhood;
  hunt->direction = 1;
  hunt->moves = 0;
  hunt->moved = false;
}

static bool other_stores(gfs_hunt *hunt) {
  gfs_policy policy = hunt->climber.policy;
  policy.streaming = !policy.streaming;
  if (!hunt->have[policy.walk][policy.streaming])
    return false;
  challenge(hunt, policy, "stores the other way");
  return true;
}

/* Keep a policy for the final, if it is one of the fastest: there are so many places, of which the
 * candidates leave two, for the climber and for `default`. */
static void note_rival(gfs_hunt *hunt, gfs_candidate candidate, float score, unsigned places) {
  unsigned at = hunt->rivals;
  for (unsigned n = 0; n < hunt->rivals; n++)
    if (same_policy(hunt->rival[n].candidate.policy, candidate.policy))
      return;
  for (; at > 0 && hunt->rival[at - 1].score > score; at--)
    if (at < places)
      hunt->rival[at] = hunt->rival[at - 1];
  if (at >= places)
    return;
  hunt->rival[at] = (gfs_rival){candidate, score};
  hunt->rivals += hunt->rivals < places;
}

/* The next rival against the best, in long runs. False: there is none. */
static bool next_rival(gfs_hunt *hunt) {
  while (hunt->next < hunt->rivals) {
    const gfs_rival *rival = &hunt->rival[hunt->next++];
    bool close = rival->score <= hunt->best_score * GFS_FINAL_NEAR ||
                 rival->candidate.policy.walk == GFS_WALK_DEFAULT;
    if (close && !same_policy(rival->candidate.policy, hunt->best.policy)) {
      challenge(hunt, rival->candidate.policy, rival->candidate.why);
      return true;
    }
  }
  return false;
}

/* The next trial of the final, or the end. */
static void next_final(gfs_hunt *hunt) {
  if (next_rival(hunt))
    return;
  hunt->phase = GFS_HUNT_OVER;
  hunt->whole = true;
}

static void begin_final(gfs_hunt *hunt) {
  const gfs_candidate *best = &hunt->best, *unasked = &hunt->candidate[0];
  if (has_climber(hunt) && !same_policy(best->policy, hunt->climber.policy))
    note_rival(hunt, hunt->climber, 0, GFS_RIVALS_MAX - 1);
  if (!same_policy(best->policy, unasked->policy))
    note_rival(hunt, *unasked, INFINITY, GFS_RIVALS_MAX);
  hunt->phase = GFS_HUNT_FINAL;
  hunt->next = 0;
}

/* Set up the next trial, or be over. */
static void advance(gfs_hunt *hunt, const gfsmith_adaptive_options *options) {
  if (hunt->phase == GFS_HUNT_CANDIDATES) {
    if (next_candidate(hunt))
      return;
    begin_climbing(hunt, options, has_climber(hunt) ? GFS_HUNT_DISTANCE : GFS_HUNT_STORES);
  }
  if (hunt->phase == GFS_HUNT_DISTANCE) {
    if (next_step(hunt, options))
      return;
    begin_climbing(hunt, options, GFS_HUNT_FIRST);
  }
  if (hunt->phase == GFS_HUNT_FIRST) {
    if (hunt->climber.policy.first > 0 && next_step(hunt, options))
      return;
    hunt->phase = GFS_HUNT_STORES;
    if (other_stores(hunt))
      return;
  }
  if (hunt->phase == GFS_HUNT_STORES)
    begin_final(hunt);
  next_final(hunt);
}

void gfs_hunt_begin(gfs_hunt *hunt, const gfsmith_adaptive_options *options,
                    const gfs_situation *situation, gfs_candidate best) {
  memset(hunt, 0, sizeof *hunt);
  memcpy(hunt->have, situation->have, sizeof hunt->have);
  hunt->count = gfs_situation_candidates(situation, options, hunt->candidate);
  size_t lines = gfs_situation_lines(situation);
  for (gfs_walk_kind walk = 0; walk < GFS_WALKS; walk++)
    hunt->furthest[walk] =
        (unsigned)gfs_least(gfs_situation_furthest(situation, walk, true), lines);
  bool can = best.policy.walk < GFS_WALK_PIPELINED ||
             (situation->have[best.policy.walk][best.policy.streaming] &&
              best.policy.distance <= hunt->furthest[best.policy.walk]);
  hunt->best = can ? best : hunt->candidate[0];
  hunt->best_score = hunt->climber_score = 1;
  if (hunt->best.policy.walk >= GFS_WALK_PIPELINED)
    hunt->climber = hunt->best;
  advance(hunt, options);
}

void gfs_hunt_review(gfs_hunt *hunt) {
  if (!hunt->whole)
    return;
  for (unsigned n = 0; n < hunt->rivals; n++)
    hunt->rival[n].score /= hunt->best_score;
  hunt->best_score = 1;
  hunt->calls = hunt->next = 0;
  hunt->whole = false;
  hunt->phase = GFS_HUNT_FINAL;
  next_final(hunt);
}

static bool climbing(const gfs_hunt *hunt) {
  return hunt->phase >= GFS_HUNT_DISTANCE && hunt->phase <= GFS_HUNT_STORES;
}

static const gfs_candidate *holder(const gfs_hunt *hunt) {
  return climbing(hunt) ? &hunt->climber : &hunt->best;
}

gfs_policy gfs_hunt_policy(const gfs_hunt *hunt) {
  if (hunt->phase == GFS_HUNT_OVER)
    return hunt->best.policy;
  return gfs_trial_challenges(&hunt->trial) ? hunt->challenger.policy : holder(hunt)->policy;
}

/* Draw the conclusions of a trial. */
static void conclude_hunt(gfs_hunt *hunt, const gfs_outcome *outcome) {
  if (climbing(hunt)) {
    if (outcome->won)
      hunt->climber = outcome->challenger;
    if (hunt->phase == GFS_HUNT_STORES)
      return;
    hunt->moved = hunt->moved || outcome->won;
    if (!outcome->won)
      turn(hunt);
    return;
  }
  float score = hunt->best_score * outcome->ratio;
  if (hunt->phase == GFS_HUNT_CANDIDATES && outcome->challenger.policy.walk >= GFS_WALK_PIPELINED &&
      (!has_climber(hunt) || score < hunt->climber_score)) {
    hunt->climber = outcome->challenger;
    hunt->climber_score = score;
  }
  const gfs_candidate *lost = outcome->won ? &outcome->holder : &outcome->challenger;
  gfs_rival beaten = {*lost, outcome->won ? hunt->best_score : score};
  if (hunt->phase == GFS_HUNT_CANDIDATES)
    note_rival(hunt, beaten.candidate, beaten.score, GFS_RIVALS_MAX - 2);
  else
    hunt->rival[hunt->next - 1] = beaten;
  if (outcome->won) {
    hunt->best = outcome->challenger;
    hunt->best_score = score;
  }
}

gfs_progress gfs_hunt_feed(gfs_hunt *hunt, const gfsmith_adaptive_options *options, float time,
                           unsigned calls, size_t bytes, gfs_outcome *outcome) {
  outcome->ratio = 0;
  gfs_verdict verdict = GFS_TRIAL_ON;
  if (hunt->phase != GFS_HUNT_OVER) {
    hunt->calls += calls;
    verdict = gfs_trial_feed(&hunt->trial, options, time, bytes);
  }
  if (verdict != GFS_TRIAL_ON) {
    *outcome = (gfs_outcome){hunt->challenger, *holder(hunt), gfs_trial_ratio(&hunt->trial),
                             verdict == GFS_TRIAL_WON};
    conclude_hunt(hunt, outcome);
    advance(hunt, options);
  }
  if (hunt->calls >= options->search_calls)
    hunt->phase = GFS_HUNT_OVER;
  if (hunt->phase == GFS_HUNT_OVER)
    return GFS_HUNT_DONE;
  return verdict == GFS_TRIAL_ON ? GFS_HUNT_ON : GFS_HUNT_TRIAL_OVER;
}
