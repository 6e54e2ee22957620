#include "trial.h"

_Static_assert((int)GFS_RUN_MAX <= (int)GFS_ROUNDS_MAX &&
                   (int)GFS_WINDOW_MAX <= (int)GFS_ROUNDS_MAX,
               "room in gfs_median");

/* If the challenger is slower than this in each of the first rounds, the trial ends. */
static const float hopeless = 1.1f;
enum { HOPELESS_ROUNDS = 3 };

float gfs_median(const float *numbers, unsigned n) {
  float sorted[GFS_ROUNDS_MAX];
  for (unsigned i = 0; i < n; i++) {
    unsigned at = i;
    for (; at > 0 && sorted[at - 1] > numbers[i]; at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = numbers[i];
  }
  return sorted[n / 2];
}

void gfs_trial_begin(gfs_trial *trial, unsigned times) {
  trial->times = times;
  trial->piece = trial->half = trial->rounds = 0;
  trial->bytes = trial->spent = 0;
}

bool gfs_trial_challenges(const gfs_trial *trial) { return (trial->half + trial->rounds) % 2 != 0; }

float gfs_trial_ratio(const gfs_trial *trial) { return gfs_median(trial->ratio, trial->rounds); }

static gfs_verdict judge_trial(const gfs_trial *trial, const gfsmith_adaptive_options *options) {
  float wins = 1 - (float)options->margin;
  int lead = 0;
  bool slow = trial->rounds == HOPELESS_ROUNDS;
  for (unsigned n = 0; n < trial->rounds; n++) {
    lead += trial->ratio[n] < wins ? 1 : -1;
    slow = slow && trial->ratio[n] > hopeless;
  }
  if (slow || lead <= -GFS_TRIAL_LEAD)
    return GFS_TRIAL_LOST;
  if (lead >= GFS_TRIAL_LEAD)
    return GFS_TRIAL_WON;
  if (trial->rounds < options->rounds)
    return GFS_TRIAL_ON;
  return gfs_trial_ratio(trial) < wins ? GFS_TRIAL_WON : GFS_TRIAL_LOST;
}

gfs_verdict gfs_trial_feed(gfs_trial *trial, const gfsmith_adaptive_options *options, float time,
                           size_t bytes) {
  unsigned counted = options->run - 1;
  trial->bytes += (double)bytes;
  trial->spent += (double)time * (double)bytes;
  if (trial->bytes * (trial->piece == 0 ? 1 : counted) < (double)options->run_bytes * trial->times)
    return GFS_TRIAL_ON;
  float *of_byte = trial->time[gfs_trial_challenges(trial)];
  of_byte[trial->piece++] = (float)(trial->spent / trial->bytes);
  trial->bytes = trial->spent = 0;
  if (trial->piece < options->run)
    return GFS_TRIAL_ON;
  trial->piece = 0;
  if (trial->half++ == 0)
    return GFS_TRIAL_ON;
  trial->half = 0;
  float holder = gfs_median(trial->time[0] + 1, counted);
  trial->ratio[trial->rounds++] = gfs_median(trial->time[1] + 1, counted) / holder;
  return judge_trial(trial, options);
}

/* The time for the evaluation of a batch also passes between batches. */
enum { LEARNING_NS = 500 };

enum { REST_NS = 500000, REST_TIMES = 16 };

void gfs_batch_begin(gfs_batch *batch, uint64_t now_ns, size_t bytes) {
  uint64_t between = now_ns - batch->end_ns;
  bool close = batch->end_ns != 0 && between <= 2 * batch->call_ns + LEARNING_NS;
  batch->wanted = close ? (unsigned)((GFS_BATCH_BYTES + bytes - 1) / bytes) : 1;
  batch->begin_ns = now_ns;
}

size_t gfs_batch_end(gfs_batch *batch, uint64_t now_ns) {
  size_t stripes = batch->stripes;
  batch->call_ns = (now_ns - batch->begin_ns) / batch->calls;
  batch->end_ns = now_ns;
  batch->calls = 0;
  batch->stripes = 0;
  return stripes;
}

uint32_t gfs_batch_rest(const gfs_batch *batch, uint32_t sample) {
  uint64_t enough = REST_NS / (batch->call_ns + 1), most = (uint64_t)sample * REST_TIMES;
  enough = enough < most ? enough : most;
  return enough > sample ? (uint32_t)enough : sample;
}
