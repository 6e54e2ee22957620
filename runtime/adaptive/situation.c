#include "situation.h"

#include "sizes.h"

/* Of one source, that a turn of a block's loop takes. */
enum { BLOCK_BYTES = 4 * GFS_CACHE_LINE };

/* Candidates as they are found. */
typedef struct list {
  const gfs_situation *s;
  unsigned furthest; /* the longest distance of rows */
  unsigned blocks;   /* and of blocks */
  size_t whole;      /* lines of the call */
  gfs_candidate *candidate;
  unsigned count;
} list;

/* What a thread may have of the device's buffer, in its lines. */
static double share_of(const gfs_situation *s) {
  return (double)s->device->buffer / ((double)s->threads * s->device->line);
}

/* Visits until a walk has every line of the device behind it that it has begun, and how many lines
 * those are. */
typedef struct span {
  unsigned visits, lines;
} span;

static span span_of(const gfs_situation *s, gfs_walk_kind walk, bool streaming) {
  bool block = walk == GFS_WALK_BLOCK || walk == GFS_WALK_BLOCK_SHUFFLED;
  return block ? (span){s->device->line / GFS_CACHE_LINE, 1}
               : (span){s->k + (streaming ? 0 : s->m), s->k};
}

bool gfs_situation_fits(const gfs_situation *s, gfs_walk_kind walk, unsigned distance,
                        bool streaming) {
  span each = span_of(s, walk, streaming);
  double spans = (distance + each.visits - 1) / each.visits;
  return s->device->buffer == 0 || spans * each.lines <= share_of(s);
}

unsigned gfs_situation_furthest(const gfs_situation *s, gfs_walk_kind walk, bool streaming) {
  span each = span_of(s, walk, streaming);
  double spans = share_of(s) / each.lines;
  if (s->device->buffer == 0 || spans >= (double)GFSMITH_ADAPTIVE_DISTANCE_MAX / each.visits)
    return GFSMITH_ADAPTIVE_DISTANCE_MAX;
  return (unsigned)spans * each.visits;
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
  bool many =
      o->threads > 0 ? s->threads > o->threads : !gfs_situation_fits(s, GFS_WALK_ROW, s->k, true);
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
 * a source, with nothing asked for: at 10+8 with 256 bytes a quarter less time than others. */
static void add_blocks(list *l, const char *why) {
  unsigned k = l->s->k, furthest = l->blocks;
  if (l->s->len <= BLOCK_BYTES)
    add(l, GFS_WALK_BLOCK, 0, 0, "a turn of a block's loop is the whole call");
  unsigned distance = (unsigned)gfs_least(4 * k, l->whole);
  if (distance > k && distance <= furthest)
    add(l, GFS_WALK_BLOCK, distance, 0, why);
}

static void add_stopped(list *l, const char *why) {
  unsigned k = l->s->k;
  unsigned row = (unsigned)gfs_least(k, l->furthest), block = (unsigned)gfs_least(k, l->blocks);
  add(l, GFS_WALK_SHUFFLED, row, 0, why);
  add(l, GFS_WALK_BLOCK_SHUFFLED, block, 0, why);
  add(l, GFS_WALK_BLOCK, block, 0, why);
}

/* With two distances, the first lines of the device's lines being asked for earlier, and stores
 * around the cache: through it, parities are streams that the hardware prefetcher follows, too. */
static void add_two(list *l, gfs_walk_kind walk, unsigned distance, unsigned extra) {
  append(l, (gfs_policy){walk, distance, distance + extra, l->s->have[walk][true]},
         "first lines of the device's lines are asked for earlier");
}

/* Where a device's lines are longer than the processor's. Each is to be read as a whole before the
 * buffer gives it up, which blocks do under any pressure. */
static void add_long_lines(list *l, unsigned extra, bool high) {
  unsigned k = l->s->k;
  if (!high) {
    add_two(l, GFS_WALK_ROWS4, k, extra);
    add_two(l, GFS_WALK_ROWS4, (k + 1) / 2, extra);
    add_two(l, GFS_WALK_SHUFFLED, k, extra);
  }
  add_two(l, GFS_WALK_BLOCK, (unsigned)gfs_least(k, l->blocks), extra);
}

unsigned gfs_situation_candidates(const gfs_situation *s, const gfsmith_adaptive_options *o,
                                  gfs_candidate candidates[GFS_CANDIDATES_MAX]) {
  list l = {.s = s, .candidate = candidates};
  l.furthest = gfs_situation_furthest(s, GFS_WALK_ROW, true);
  l.blocks = gfs_situation_furthest(s, GFS_WALK_BLOCK, true);
  l.whole = gfs_situation_lines(s);
  gfs_pressure pressure = gfs_situation_pressure(s, o);
  bool wide = s->k > s->device->streams, pages = s->len % o->page == 0;
  add(&l, GFS_WALK_DEFAULT, 0, 0, "what the library does without a coordinator");
  if (pressure == GFS_PRESSURE_HIGH)
    add_stopped(&l, "high pressure: hardware prefetchers are stopped by order");
  add(&l, GFS_WALK_PLAIN, 0, 0,
      wide ? "wide stripe: hardware prefetchers give up, nothing else asks"
           : "hardware prefetchers alone");
  if (s->device->line > GFS_CACHE_LINE)
    add_long_lines(&l, o->first_extra, pressure == GFS_PRESSURE_HIGH);
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
