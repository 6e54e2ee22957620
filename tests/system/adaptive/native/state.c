/* Policies, candidates, trials, the search and drift, on artificial times: the program reads no
 * clock. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drift.h"
#include "policy_search.h"
#include "trial.h"

#define CHECK(what)                                                                                \
  do {                                                                                             \
    if (!(what)) {                                                                                 \
      printf("line %d: %s (%s)\n", __LINE__, #what, about);                                        \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static char about[160];
static gfsmith_adaptive_options options;
static gfs_device dram, optane;

/* A model of a memory: the best time of each walk, its distance, and the cost of other stores. */
typedef struct memory {
  double walk[GFS_WALKS];
  /* minimum; from there the time rises by half for each factor of two of the deviation */
  double best;
  bool streaming;
} memory;

static double time_of(const memory *mem, gfs_policy p) {
  double time = mem->walk[p.walk];
  if (p.walk < GFS_WALK_PIPELINED)
    return time;
  double off = fabs((double)p.distance - mem->best) / (mem->best + 32);
  return time * (1 + off * 0.5) * (p.streaming == mem->streaming ? 1 : 1.15);
}

/* Time of the k-th call: other programs use the machine for a while, and random single calls are
 * slow. */
typedef struct noise {
  bool on;
  uint32_t seed;
  unsigned call;
} noise;

static double draw(noise *n) {
  n->seed = n->seed * 1664525u + 1013904223u;
  return (double)(n->seed >> 8) / (1 << 24);
}

static double noisy(noise *n, double time) {
  n->call++;
  if (!n->on)
    return time;
  bool busy = n->call / 937 % 3 == 1; /* half as fast for hundreds of calls */
  double hit = draw(n) < 0.03 ? 10 : 1;
  return time * (busy ? 2 : 1) * hit * (1 + 0.08 * (draw(n) - 0.5));
}

static gfs_workload workload(unsigned k, unsigned m, size_t len, const gfs_device *device) {
  gfs_workload s = {.k = k, .m = m, .threads = 1, .len = len, .device = device};
  for (int walk = 0; walk < GFS_WALKS; walk++)
    s.have[walk][0] = s.have[walk][1] = true;
  return s;
}

/* Number of long runs that the last search fed. */
static unsigned finals;

static gfs_policy_search searched;

static bool is_best(gfs_policy policy) {
  return gfs_policy_pack(policy) == gfs_policy_pack(searched.best.policy);
}

/* Checks the beginning of the final: its rivals do not include the best policy, are in order after
 * a search, and include `default` unless that is the best. Returns the number of rivals close
 * enough for a comparison. */
static unsigned check_rivals(bool ordered) {
  bool with_default = searched.best.policy.walk == GFS_WALK_DEFAULT;
  unsigned close = 0;
  for (unsigned n = 0; n < searched.rivals; n++) {
    const gfs_rival *rival = &searched.rival[n];
    bool is_default = rival->candidate.policy.walk == GFS_WALK_DEFAULT;
    CHECK(!is_best(rival->candidate.policy));
    CHECK(!ordered || n == 0 || searched.rival[n - 1].score <= rival->score);
    with_default = with_default || is_default;
    close += is_default || rival->score <= searched.best_score * GFS_FINAL_NEAR;
  }
  CHECK(with_default);
  return close;
}

/* Continues the search until it ends. The best policy is compared with all close rivals, unless one
 * of them is faster. */
static void go_on(const memory *mem, noise *n, bool ordered) {
  gfs_outcome outcome;
  gfs_progress progress = GFS_SEARCH_ON;
  gfs_policy before = {.walk = GFS_WALKS};
  unsigned close = 0, met = 0;
  finals = 0;
  while (progress != GFS_SEARCH_DONE) {
    bool final = searched.phase == GFS_SEARCH_FINAL;
    CHECK(searched.phase == GFS_SEARCH_OVER ||
          searched.trial.times == (final ? GFS_FINAL_TIMES : 1));
    if (final && finals++ == 0) {
      close = check_rivals(ordered);
      before = searched.best.policy;
    }
    double time = noisy(n, time_of(mem, gfs_policy_search_policy(&searched)));
    progress =
        gfs_policy_search_feed(&searched, &options, (float)time, 1, options.run_bytes, &outcome);
    CHECK(searched.calls <= options.search_calls);
    met += final && outcome.ratio > 0;
  }
  CHECK(!searched.whole || !is_best(before) || met == close);
}

/* Searches and returns the result; *calls: the number of calls. */
static gfs_policy search(const memory *mem, const gfs_workload *s, gfs_candidate from, noise *n,
                         unsigned *calls) {
  gfs_policy_search_begin(&searched, &options, s, from);
  go_on(mem, n, true);
  *calls = searched.calls;
  return searched.best.policy;
}

/* Returns the least time of any policy that the search may choose. */
static double least(const memory *mem, const gfs_workload *s) {
  gfs_candidate candidate[GFS_CANDIDATES_MAX];
  unsigned count = gfs_candidates_write(s, &options, candidate);
  double best = INFINITY;
  for (unsigned n = 0; n < count; n++) {
    gfs_policy p = candidate[n].policy;
    bool pipelined = p.walk >= GFS_WALK_PIPELINED;
    for (unsigned d = 0; d <= (pipelined ? 400u : 0u); d++)
      for (int streaming = 0; streaming < (pipelined ? 2 : 1); streaming++) {
        p.distance = d;
        p.streaming = streaming != 0;
        best = fmin(best, time_of(mem, p));
      }
  }
  return best;
}

static const gfs_candidate none = {{.walk = GFS_WALK_DEFAULT}, ""};

static const memory memories[] = {
    {{1.0, 1.2, 1.3, 1.4, 1.2, 1.5, 1.6}, 40, true},  /* default is best */
    {{1.3, 1.0, 1.3, 1.4, 1.2, 1.5, 1.6}, 40, true},  /* plain */
    {{1.5, 1.4, 1.0, 1.1, 1.2, 1.5, 1.6}, 30, true},  /* rows */
    {{1.5, 1.4, 1.1, 1.0, 1.2, 1.5, 1.6}, 110, true}, /* rows of four lines, long distance */
    {{1.5, 1.4, 1.1, 1.0, 1.2, 1.5, 1.6}, 12, false}, /* short distance, and ordinary stores */
    {{1.9, 1.8, 1.5, 1.6, 1.4, 1.2, 1.0}, 20, true},  /* shuffled */
    {{1.9, 1.8, 1.5, 1.6, 1.0, 1.2, 1.3}, 60, true},  /* blocks */
};
enum { MEMORIES = sizeof memories / sizeof memories[0] };

static void test_search(bool with_noise) {
  static const unsigned ks[] = {4, 12, 28};
  for (unsigned n = 0; n < MEMORIES * 3; n++)
    for (uint32_t seed = 1; seed <= (with_noise ? 8u : 1u); seed++) {
      const memory *mem = &memories[n % MEMORIES];
      gfs_workload s = workload(ks[n / MEMORIES], 4, 8192 + 64, &dram);
      noise disturbed = {with_noise, seed, 0};
      unsigned calls;
      gfs_policy found = search(mem, &s, none, &disturbed, &calls);
      char text[GFS_POLICY_TEXT];
      gfs_policy_text(found, text, sizeof text);
      double lost = time_of(mem, found) / least(mem, &s);
      snprintf(about, sizeof about, "memory %u, k %u, seed %u: %s, %.3f, %u calls", n % MEMORIES,
               s.k, seed, text, lost, calls);
      CHECK(lost <= (with_noise ? 1.04 : 1.03));
      CHECK(lost <= (with_noise ? 1.02 : 1.0) * time_of(mem, none.policy) / least(mem, &s));
      CHECK(calls < 8000);
      CHECK(found.walk == GFS_WALK_DEFAULT || finals > 0);
    }
}

/* Memory changes under a settled policy: drift is detected, and the search that begins with the
 * former best policy finds the new one. The same in the opposite direction. */
static void test_recovery(void) {
  gfs_workload s = workload(12, 4, 8192 + 64, &dram);
  gfs_candidate at = none;
  for (unsigned n = 0; n < 12; n++) {
    const memory *before = &memories[n % MEMORIES], *now = &memories[(n + 1) % MEMORIES];
    noise calm = {false, 1, 0};
    unsigned calls, samples = 0;
    at.policy = search(before, &s, at, &calm, &calls);
    double old = time_of(before, at.policy), new = 1.25 * old;
    gfs_drift drift;
    uint32_t ms = UINT32_MAX - 20; /* it may overflow */
    gfs_drift_begin(&drift);
    while (samples++ < GFS_DRIFT_FIRST * options.window)
      CHECK(gfs_drift_feed(&drift, &options, ms++, (float)old) == 0);
    for (samples = 0; gfs_drift_feed(&drift, &options, ms++, (float)new) == 0; samples++)
      CHECK(samples < GFS_DRIFT_INSIST * options.window);
    at.policy = search(now, &s, at, &calm, &calls);
    CHECK(time_of(now, at.policy) <= 1.03 * least(now, &s));
  }
}

/* Returns the least time in this memory of the best policy and its rivals. */
static double least_known(const memory *mem) {
  double best = time_of(mem, searched.best.policy);
  for (unsigned n = 0; n < searched.rivals; n++)
    best = fmin(best, time_of(mem, searched.rival[n].candidate.policy));
  return best;
}

/* The times of the policies change after the search, so that another one is a tenth faster: a
 * review detects that. Every review compares the same policies, however often the best of them
 * changes. */
static void test_review(void) {
  static const memory then = {{1.0, 1.2, 1.05, 1.5, 1.2, 1.5, 1.6}, 40, true};
  static const memory now = {{1.1, 1.2, 1.0, 1.5, 1.2, 1.5, 1.6}, 40, true};
  gfs_workload s = workload(12, 4, 8192 + 64, &dram);
  noise calm = {false, 1, 0};
  unsigned calls;
  snprintf(about, sizeof about, "review");
  gfs_policy found = search(&then, &s, none, &calm, &calls);
  CHECK(found.walk == GFS_WALK_DEFAULT && searched.whole);
  unsigned rivals = searched.rivals;
  double best_then = least_known(&then), best_now = least_known(&now);
  for (unsigned n = 0; n < 6; n++) {
    const memory *mem = n % 2 == 0 ? &now : &then;
    gfs_policy_search_review(&searched);
    go_on(mem, &calm, false);
    CHECK(finals > 0 && searched.whole && searched.rivals == rivals && searched.calls < calls);
    CHECK(searched.best.policy.walk == (n % 2 == 0 ? GFS_WALK_ROW : GFS_WALK_DEFAULT));
    CHECK(time_of(mem, searched.best.policy) <= 1.01 * least_known(mem));
    CHECK(least_known(&then) == best_then && least_known(&now) == best_now);
    (void)check_rivals(false);
    CHECK(searched.best_score < 1); /* relative to the policy at the beginning */
  }
  /* A search that was cut short has no rivals. */
  unsigned was = options.search_calls;
  options.search_calls = 300;
  found = search(&then, &s, none, &calm, &calls);
  CHECK(!searched.whole);
  gfs_policy_search_review(&searched);
  go_on(&now, &calm, false);
  CHECK(finals == 0 && gfs_policy_pack(searched.best.policy) == gfs_policy_pack(found));
  options.search_calls = was;
  /* Reviews become rarer. */
  options.review_ms = 250;
  CHECK(gfs_drift_review(&options, 0) == 250 && gfs_drift_review(&options, 2) == 64000);
  CHECK(gfs_drift_review(&options, 5) == 262144000 && gfs_drift_review(&options, 6) == 1 << 30);
  CHECK(gfs_drift_review(&options, 1u << 31) == 1 << 30);
  options.review_ms = 0;
  CHECK(gfs_drift_review(&options, 0) == 0 && gfs_drift_review(&options, 9) == 0);
  options.review_ms = 250;
}

/* Feeds windows of one time, one sample per millisecond; returns the result of the last sample. */
static float watched(gfs_drift *drift, uint32_t *ms, unsigned windows, float time) {
  float moved = 0;
  for (unsigned n = 0; n < windows * options.window; n++)
    moved = gfs_drift_feed(drift, &options, (*ms)++, time);
  return moved;
}

static void test_watch(void) {
  gfs_drift drift;
  uint32_t ms = 7;
  snprintf(about, sizeof about, "drift");
  gfs_drift_begin(&drift);
  CHECK(watched(&drift, &ms, 1, 3.0f) == 0); /* the first window is one of three */
  CHECK(watched(&drift, &ms, 2, 2.0f) == 0);
  for (unsigned n = 0; n < 100 * options.window; n++) { /* slow drift up to the limit, and hits */
    double time = n % options.window == 3 ? 20.0 : 2.0 + 0.0019 * n / options.window;
    CHECK(gfs_drift_feed(&drift, &options, ms++, (float)time) == 0);
  }
  /* beyond the limit: detected if the time stays there */
  for (int sign = -1; sign <= 1; sign += 2) {
    float time = 2.0f * (1 + 0.12f * (float)sign);
    CHECK(watched(&drift, &ms, GFS_DRIFT_INSIST - 1, time) == 0);
    CHECK(fabsf(watched(&drift, &ms, 1, time) - 0.12f * (float)sign) < 0.001f);
    CHECK(watched(&drift, &ms, 1, 2.0f) == 0);
  }
  for (unsigned n = 0; n < 20; n++) { /* alternating times are no drift */
    CHECK(watched(&drift, &ms, GFS_DRIFT_INSIST - 1, 4.0f) == 0);
    CHECK(watched(&drift, &ms, 1, 1.0f) == 0);
  }
  for (unsigned n = 0; n < 100 * options.window; n++) /* within one millisecond: one sample */
    CHECK(gfs_drift_feed(&drift, &options, ms, 4.0f) == 0);
}

/* A search ends after its maximum of calls with the best policy so far, which is never worse than
 * `default`. */
static void test_bounds(void) {
  unsigned calls, was = options.search_calls;
  for (unsigned n = 0; n < MEMORIES; n++)
    for (options.search_calls = 1; options.search_calls < 3000; options.search_calls += 97) {
      noise calm = {false, 1, 0};
      gfs_workload s = workload(28, 4, 1024, &dram);
      gfs_policy found = search(&memories[n], &s, none, &calm, &calls);
      snprintf(about, sizeof about, "at most %u calls", options.search_calls);
      CHECK(calls <= options.search_calls);
      CHECK(time_of(&memories[n], found) <= time_of(&memories[n], none.policy));
    }
  options.search_calls = was;
}

/* Stores through the cache delay the call eight calls later, of either policy: sufficiently long
 * runs attribute the delay to the right policy, shorter ones do not. */
static void test_debts(void) {
  enum { CALL = 64 << 10, LATER = 8 };
  unsigned was = options.run_bytes;
  for (int enough = 0; enough < 2; enough++) {
    float owed[LATER] = {0};
    gfs_verdict verdict = GFS_TRIAL_ON;
    gfs_trial trial;
    gfs_trial_begin(&trial, 1);
    options.run_bytes = enough ? was : 1;
    snprintf(about, sizeof about, "debts, runs of %u bytes", options.run_bytes);
    for (unsigned n = 0; verdict == GFS_TRIAL_ON; n++) {
      bool owes = gfs_trial_challenges(&trial);
      float time = (owes ? 0.8f : 1.0f) + owed[n % LATER];
      owed[n % LATER] = owes ? 0.4f : 0;
      verdict = gfs_trial_feed(&trial, &options, time, CALL);
    }
    CHECK(verdict == (enough ? GFS_TRIAL_LOST : GFS_TRIAL_WON));
  }
  options.run_bytes = was;
}

/* Returns the size of the n-th batch, for calls of the given nanoseconds and bytes with a pause
 * before each. */
static unsigned batch_of(unsigned n, uint64_t call, uint64_t pause, size_t bytes) {
  gfs_batch batch = {0};
  uint64_t now = 1000000;
  unsigned calls = 0;
  for (unsigned batches = 0; batches < n;) {
    now += pause;
    if (gfs_batch_begins(&batch))
      gfs_batch_begin(&batch, now, bytes);
    now += call;
    if (!gfs_batch_ends(&batch, 1))
      continue;
    calls = (unsigned)gfs_batch_end(&batch, now);
    CHECK(batch.call_ns == call + pause * (calls - 1) / calls);
    batches++;
  }
  return calls;
}

/* Consecutive calls are timed together, others one by one. */
static void test_batches(void) {
  snprintf(about, sizeof about, "batches");
  CHECK(batch_of(1, 300, 0, 1024) == 1); /* the pause between calls is not known yet */
  CHECK(batch_of(2, 300, 0, 1024) == 64 && batch_of(9, 300, 100, 1000) == 66);
  CHECK(batch_of(2, 300, 1101, 1024) == 1 && batch_of(9, 300, 1101, 1024) == 1);
  CHECK(batch_of(2, 9000, 0, 65536) == 1 && batch_of(2, 9000, 0, 65535) == 2);
  gfs_batch batch = {0};
  gfs_batch_begin(&batch, 100, 1024);
  CHECK(gfs_batch_ends(&batch, 1) && gfs_batch_end(&batch, 400) == 1);
  gfs_batch_begin(&batch, 400, 1024);
  CHECK(!gfs_batch_ends(&batch, 1) && !gfs_batch_begins(&batch));
  gfs_batch_break(&batch); /* another cell's call */
  gfs_batch_begin(&batch, 800, 1024);
  CHECK(gfs_batch_ends(&batch, 1) && gfs_batch_end(&batch, 1100) == 1);
  gfs_batch_begin(&batch, 1200, 32768);
  CHECK(!gfs_batch_ends(&batch, 5)); /* batch calls */
  CHECK(gfs_batch_ends(&batch, 3) && gfs_batch_end(&batch, 1800) == 8);
  CHECK(batch.call_ns == 300);
  const struct {
    uint64_t call;
    uint32_t sample, rest;
  } rests[] = {{0, 64, 1024},  {0, 1, 16},     {487, 64, 1024},
               {999, 64, 500}, {9999, 64, 64}, {999, 65536, 65536}};
  for (size_t n = 0; n < sizeof rests / sizeof rests[0]; n++) {
    batch.call_ns = rests[n].call;
    CHECK(gfs_batch_rest(&batch, rests[n].sample) == rests[n].rest);
  }
}

static unsigned of_walk(const gfs_candidate *candidate, unsigned count, gfs_walk_kind walk) {
  unsigned found = 0;
  for (unsigned n = 0; n < count; n++)
    found += candidate[n].policy.walk == walk;
  return found;
}

static void test_candidates(void) {
  gfs_candidate c[GFS_CANDIDATES_MAX];
  snprintf(about, sizeof about, "candidates");
  gfs_workload s = workload(12, 4, 8192 + 64, &dram);
  unsigned count = gfs_candidates_write(&s, &options, c);
  CHECK(c[0].policy.walk == GFS_WALK_DEFAULT && of_walk(c, count, GFS_WALK_PLAIN) == 1);
  /* The distance begins at k (section 4.1), then doubles up to 16 k, then the whole call; pressure
   * is unknown. */
  CHECK(c[2].policy.walk == GFS_WALK_ROW && c[2].policy.distance == 12 && !c[2].policy.streaming);
  CHECK(c[4].policy.distance == 48 && c[6].policy.distance == 192);
  CHECK(c[7].policy.distance == 129 * 12);
  CHECK(c[8].policy.walk == GFS_WALK_ROW && c[8].policy.distance == 96 && c[8].policy.streaming);
  CHECK(c[9].policy.walk == GFS_WALK_ROW && c[9].policy.distance == 12 && c[9].policy.streaming);
  CHECK(of_walk(c, count, GFS_WALK_BLOCK) == 2);
  CHECK(of_walk(c, count, GFS_WALK_SHUFFLED) == 1);
  s.counted = GFS_CONTENTION_LOW;
  count = gfs_candidates_write(&s, &options, c);
  CHECK(of_walk(c, count, GFS_WALK_SHUFFLED) == 0 && of_walk(c, count, GFS_WALK_BLOCK) == 0);
  s.counted = GFS_CONTENTION_HIGH; /* disabling hardware prefetchers comes before everything else */
  count = gfs_candidates_write(&s, &options, c);
  CHECK(c[1].policy.walk == GFS_WALK_ROW && c[1].policy.pages && c[1].policy.distance == 12);
  CHECK(c[2].policy.walk == GFS_WALK_SHUFFLED && !c[2].policy.pages);
  /* A policy of its own for whole pages needs pages, a rest, a shuffled order, and a narrow stripe.
   */
  static const size_t none[] = {4096, 8192, 1024};
  for (unsigned n = 0; n < 5; n++) {
    gfs_workload other = workload(n == 3 ? 48 : 12, 4, n < 3 ? none[n] : 8192 + 64, &dram);
    other.counted = GFS_CONTENTION_HIGH;
    other.have[GFS_WALK_SHUFFLED][0] = n != 4;
    count = gfs_candidates_write(&other, &options, c);
    for (unsigned i = 0; i < count; i++)
      CHECK(!c[i].policy.pages);
  }
  /* Wide stripes: software prefetching only; with whole pages, hardware prefetching stays. */
  gfs_workload wide = workload(48, 4, 1024, &dram);
  count = gfs_candidates_write(&wide, &options, c);
  CHECK(of_walk(c, count, GFS_WALK_SHUFFLED) == 0 && of_walk(c, count, GFS_WALK_ROW) == 8);
  CHECK(c[7].policy.distance == 384 && c[7].policy.streaming);
  /* the same between those bounds */
  CHECK(c[8].policy.distance == 24 && c[9].policy.distance == 72);
  CHECK(of_walk(c, count, GFS_WALK_BLOCK) == 1 && c[count - 1].policy.distance == 192);
  /* A block that covers a whole source, without prefetches. */
  for (size_t len = 256; len <= 257; len++) {
    gfs_workload brief = workload(48, 8, len, &dram);
    count = gfs_candidates_write(&brief, &options, c);
    bool idle = false;
    for (unsigned n = 0; n < count; n++)
      idle = idle || (c[n].policy.walk == GFS_WALK_BLOCK && c[n].policy.distance == 0);
    CHECK(idle == (len == 256));
  }
  gfs_workload pages = workload(12, 4, 8192, &dram);
  count = gfs_candidates_write(&pages, &options, c);
  CHECK(of_walk(c, count, GFS_WALK_SHUFFLED) == 0 && of_walk(c, count, GFS_WALK_ROWS4) == 7);
  /* Two distances where the device's lines are longer, under low pressure: k + 4 at first. */
  gfs_workload slow = workload(28, 4, 1024, &optane);
  count = gfs_candidates_write(&slow, &options, c);
  bool two = false;
  for (unsigned n = 0; n < count; n++)
    two = two || (c[n].policy.first == 32 && c[n].policy.distance == 28);
  CHECK(two && gfs_workload_contention(&slow, &options) == GFS_CONTENTION_LOW);
  /* All with stores around the cache; also at half of the distance, and blocks. */
  CHECK(c[2].policy.walk == GFS_WALK_ROWS4 && c[2].policy.distance == 28 && c[2].policy.streaming);
  CHECK(c[3].policy.walk == GFS_WALK_ROWS4 && c[3].policy.distance == 14);
  CHECK(c[3].policy.first == 18 && c[4].policy.walk == GFS_WALK_SHUFFLED);
  CHECK(c[5].policy.walk == GFS_WALK_BLOCK && c[5].policy.distance == 28 &&
        c[5].policy.first == 32);
  slow.threads = 14; /* equation (1): 13 * 28 * 256 <= 98304 < 14 * 28 * 256 */
  count = gfs_candidates_write(&slow, &options, c);
  CHECK(gfs_workload_contention(&slow, &options) == GFS_CONTENTION_HIGH);
  CHECK(c[1].policy.walk == GFS_WALK_SHUFFLED && c[1].policy.distance == 0);
  /* Blocks begin fewer lines of the device, so they may prefetch some. */
  CHECK(c[2].policy.walk == GFS_WALK_BLOCK_SHUFFLED && c[2].policy.distance == 28);
  for (unsigned n = 0; n < count; n++)
    CHECK((c[n].policy.first == 32) == (n == 5) && (n == 5 || c[n].policy.first == 0));
  CHECK(c[5].policy.walk == GFS_WALK_BLOCK);
  slow.threads = 13;
  CHECK(gfs_workload_contention(&slow, &options) == GFS_CONTENTION_LOW);
  options.threads = 12; /* the paper's own number instead of the equation */
  CHECK(gfs_workload_contention(&slow, &options) == GFS_CONTENTION_HIGH);
  options.threads = 0;
  /* No kernels at all. */
  memset(s.have[GFS_WALK_PIPELINED], 0, sizeof s.have[0] * (GFS_WALKS - GFS_WALK_PIPELINED));
  CHECK(gfs_candidates_write(&s, &options, c) == 2);
}

static void test_equation(void) {
  snprintf(about, sizeof about, "equation (1)");
  for (unsigned threads = 1; threads <= 20; threads++)
    for (unsigned k = 1; k <= 64; k++)
      for (gfs_walk_kind walk = GFS_WALK_PIPELINED; walk < GFS_WALKS; walk++)
        for (int streaming = 0; streaming < 2; streaming++) {
          gfs_workload s = workload(k, 4, 1024, &optane);
          s.threads = threads;
          unsigned furthest = gfs_distance_furthest(&s, walk, streaming != 0);
          CHECK(gfs_distance_fits(&s, walk, furthest, streaming != 0));
          CHECK(furthest == GFSMITH_ADAPTIVE_DISTANCE_MAX ||
                !gfs_distance_fits(&s, walk, furthest + 1, streaming != 0));
          bool block = walk == GFS_WALK_BLOCK || walk == GFS_WALK_BLOCK_SHUFFLED;
          unsigned lines = 98304 / 256 / threads; /* lines of the buffer, per thread */
          CHECK(furthest == (block ? lines * 4 : lines / k * (k + (streaming ? 0 : 4))));
        }
  CHECK(gfs_contention_counted(&options, 1.09, 9) == GFS_CONTENTION_LOW);
  CHECK(gfs_contention_counted(&options, 1.11, 1.49) == GFS_CONTENTION_LOW);
  CHECK(gfs_contention_counted(&options, 1.11, 1.51) == GFS_CONTENTION_HIGH);
  CHECK(gfs_contention_counted(&options, 1.11, -1) == GFS_CONTENTION_UNKNOWN);
  CHECK(gfs_contention_counted(&options, -1, 9) == GFS_CONTENTION_UNKNOWN);
}

static void test_text(void) {
  static const char *good[] = {"default",
                               "plain",
                               "row",
                               "rows4,d=28,first=32,nt",
                               "block-shuffled",
                               "shuffled,d=4000",
                               "block",
                               "row,d=0",
                               "rows4,first=9",
                               "row,nt",
                               "row,d=28,pages",
                               "rows4,nt,pages",
                               "block,d=4000,first=4000,nt,pages"};
  static const char *bad[] = {"",
                              "rows",
                              "Row",
                              "row,",
                              "row,d=",
                              "row,d=-1",
                              "row,d=4001",
                              "row,d=1,d=1",
                              "row,nt,nt",
                              "default,nt",
                              "plain,d=4",
                              "row d=4",
                              "row,nt ",
                              "rows4,d=1x",
                              "row,d=99999999999",
                              "block-",
                              ",row",
                              "row,first",
                              "nt",
                              "default,",
                              "pages",
                              "plain,pages",
                              "default,pages",
                              "shuffled,pages",
                              "block-shuffled,d=4,pages",
                              "row,pages,pages",
                              "row,page"};
  char text[GFS_POLICY_TEXT];
  gfs_policy policy;
  for (size_t n = 0; n < sizeof good / sizeof good[0]; n++) {
    snprintf(about, sizeof about, "%s", good[n]);
    CHECK(gfs_policy_read(good[n], &policy));
    policy = gfs_policy_unpack(gfs_policy_pack(policy));
    CHECK(gfs_policy_text(policy, text, sizeof text) == strlen(good[n]));
    CHECK(strcmp(text, good[n]) == 0 && (gfs_policy_pack(policy) & 1u << 31) != 0);
  }
  for (size_t n = 0; n < sizeof bad / sizeof bad[0]; n++) {
    snprintf(about, sizeof about, "%s", bad[n]);
    CHECK(!gfs_policy_read(bad[n], &policy));
  }
  CHECK(gfs_policy_text(policy, text, 3) > 3 && strlen(text) == 2);
}

int main(int argc, char **argv) {
  char why[160];
  gfsmith_adaptive_defaults(&options);
  gfs_device_defaults(&dram);
  if (argc < 2 || !gfs_device_read(argv[1], &optane, why, sizeof why))
    return 2;
  test_text();
  test_debts();
  test_batches();
  test_equation();
  test_candidates();
  test_search(false);
  test_search(true);
  test_bounds();
  test_recovery();
  test_review();
  test_watch();
  puts("ok");
  return 0;
}
