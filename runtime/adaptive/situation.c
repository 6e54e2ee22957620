#include "situation.h"

#include "dispatch.h"
#include "sizes.h"

/* Of one source, that a turn of a block's loop takes. */
enum { BLOCK_BYTES = 4 * GFS_CACHE_LINE };

/* Candidates as they are found. */
typedef struct list {
  const gfs_situation *s;
  unsigned furthest; /* the longest distance */
  size_t whole;      /* lines of the call */
  gfs_candidate *candidate;
  unsigned count;
} list;

bool gfs_situation_fits(const gfs_situation *s, unsigned distance, bool streaming) {
  if (s->device->buffer == 0)
    return true;
  unsigned visits = s->k + (streaming ? 0 : s->m);
  double rows = (distance + visits - 1) / visits;
  return (double)s->threads * s->k * s->device->line * rows <= s->device->buffer;
}

unsigned gfs_situation_furthest(const gfs_situation *s, bool streaming) {
  if (s->device->buffer == 0)
    return GFSMITH_ADAPTIVE_DISTANCE_MAX;
  double rows = (double)s->device->buffer / ((double)s->threads * s->k * s->device->line);
  double visits = s->k + (streaming ? 0 : s->m);
  if (rows >= GFSMITH_ADAPTIVE_DISTANCE_MAX / visits)
    return GFSMITH_ADAPTIVE_DISTANCE_MAX;
  return (unsigned)rows * (unsigned)visits;
}

gfs_pressure gfs_situation_counted(const gfsmith_adaptive_options *o, double contention,
                                   double useless) {
  if (contention < 0)
    return GFS_PRESSURE_UNKNOWN;
  if (contention <= o->contention)
    return GFS_PRESSURE_LOW;
  if (useless < 0)
    return GFS_PRESSURE_UNKNOWN;
  return useless > o->useless ? GFS_PRESSURE_HIGH : GFS_PRESSURE_LOW;
}

gfs_pressure gfs_situation_pressure(const gfs_situation *s, const gfsmith_adaptive_options *o) {
  bool many = o->threads > 0 ? s->threads > o->threads : !gfs_situation_fits(s, s->k, true);
  if (many || s->counted == GFS_PRESSURE_HIGH)
    return GFS_PRESSURE_HIGH;
  bool known = s->device->buffer > 0 || o->threads > 0;
  return known ? GFS_PRESSURE_LOW : s->counted;
}

size_t gfs_situation_lines(const gfs_situation *s) {
  return (s->len + GFS_CACHE_LINE - 1) / GFS_CACHE_LINE * s->k;
}

static void append(list *l, gfs_policy policy, const char *why) {
  if (l->s->have[policy.walk][policy.streaming] && l->count < GFS_CANDIDATES_MAX)
    l->candidate[l->count++] = (gfs_candidate){policy, why};
}

/* Append a walk with one distance, with stores through the cache or, if there is no such kernel,
 * around it; hill climbing tries the others in the end. Measured from DRAM on Zen 4, the first are
 * faster by up to a third. */
static void add(list *l, gfs_walk_kind walk, unsigned distance, unsigned first, const char *why) {
  bool streaming = walk >= GFS_WALK_PIPELINED && !l->s->have[walk][false];
  append(l, (gfs_policy){walk, distance, first, streaming}, why);
}

/* Distances to begin with: one, two, four, eight and sixteen lines of every source, and all lines
 * of the call, which is asked for as a whole then. The paper begins with the first alone; but what
 * the hill between them looks like depends on the memory, and climbing goes 16 lines at a time.
 * With stores around the cache, eight or the whole call: best with eight parities of 256 bytes. */
static void add_pipelined(list *l, gfs_walk_kind walk, const char *why) {
  unsigned k = l->s->k, furthest = l->furthest;
  size_t whole = l->whole;
  add(l, walk, k < furthest ? k : furthest, 0, why);
  for (unsigned lines = 2; lines <= 16 && k * lines <= furthest && k * lines < whole; lines *= 2)
    add(l, walk, k * lines, 0, why);
  if (whole > k && whole <= furthest)
    add(l, walk, (unsigned)whole, 0, why);
  unsigned far = (unsigned)gfs_least(8 * k, whole);
  if (far > k && far <= furthest && l->s->have[walk][false])
    append(l, (gfs_policy){walk, far, 0, true}, why);
}

/* Rows of wide stripes at a half and one and a half of them, too: that is many steps of climbing,
 * each within a trial's noise. Rows of few sources with stores around the cache at a short
 * distance, which is where those are best at 4+8 from 2 KiB on. */
static void add_rows(list *l, bool wide, const char *why) {
  unsigned k = l->s->k, furthest = l->furthest;
  add_pipelined(l, GFS_WALK_ROW, why);
  for (unsigned halves = 1; wide && halves <= 3; halves += 2)
    if (k * halves / 2 <= furthest)
      add(l, GFS_WALK_ROW, k * halves / 2, 0, why);
  if (!wide && k <= furthest && l->s->have[GFS_WALK_ROW][false])
    append(l, (gfs_policy){GFS_WALK_ROW, k, 0, true}, why);
}

/* Blocks at four lines of every source: best at 100+8 and 154+8 with 5 KiB. Where a block is all of
 * a source, with nothing asked for: a quarter faster than any other at 10+8 with 256 bytes. */
static void add_blocks(list *l, const char *why) {
  unsigned k = l->s->k, furthest = l->furthest;
  if (l->s->len <= BLOCK_BYTES)
    add(l, GFS_WALK_BLOCK, 0, 0, "a turn of a block's loop is the whole call");
  unsigned distance = (unsigned)gfs_least(4 * k, l->whole);
  if (distance > k && distance <= furthest)
    add(l, GFS_WALK_BLOCK, distance, 0, why);
}

static void add_stopped(list *l, const char *why) {
  unsigned k = l->s->k, furthest = l->furthest;
  unsigned distance = k < furthest ? k : furthest;
  add(l, GFS_WALK_SHUFFLED, distance, 0, why);
  add(l, GFS_WALK_BLOCK_SHUFFLED, distance, 0, why);
  add(l, GFS_WALK_BLOCK, distance, 0, why);
}

unsigned gfs_situation_candidates(const gfs_situation *s, const gfsmith_adaptive_options *o,
                                  gfs_candidate candidates[GFS_CANDIDATES_MAX]) {
  list l = {.s = s, .candidate = candidates};
  l.furthest = gfs_situation_furthest(s, true);
  l.whole = gfs_situation_lines(s);
  gfs_pressure pressure = gfs_situation_pressure(s, o);
  bool wide = s->k > s->device->streams, pages = s->len % o->page == 0;
  add(&l, GFS_WALK_DEFAULT, 0, 0, "what the library does without a coordinator");
  if (pressure == GFS_PRESSURE_HIGH)
    add_stopped(&l, "high pressure: hardware prefetchers are stopped by order");
  add(&l, GFS_WALK_PLAIN, 0, 0,
      wide ? "wide stripe: hardware prefetchers give up, nothing else asks"
           : "hardware prefetchers alone");
  if (pressure != GFS_PRESSURE_HIGH && s->device->line > GFS_CACHE_LINE) {
    add(&l, GFS_WALK_ROWS4, s->k, s->k + o->first_extra,
        "low pressure: first lines of the device's lines are asked for earlier");
    add(&l, GFS_WALK_SHUFFLED, s->k, s->k + o->first_extra,
        "low pressure: first lines of the device's lines are asked for earlier");
  }
  const char *soft = wide    ? "wide stripe: software prefetch only"
                     : pages ? "whole pages keep the hardware prefetcher, software asks too"
                             : "software prefetch beside the hardware's";
  add_rows(&l, wide, soft);
  add_pipelined(&l, GFS_WALK_ROWS4, soft);
  if (pressure != GFS_PRESSURE_LOW)
    add_blocks(&l, soft);
  if (pressure == GFS_PRESSURE_UNKNOWN && !wide && !pages)
    add_stopped(&l, "pressure is not known: orders that stop hardware prefetchers are timed");
  return l.count;
}
