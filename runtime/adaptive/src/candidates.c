#include "candidates.h"

#include "sizes.h"

/* Bytes of one source that an iteration of a block kernel reads. */
enum { BLOCK_BYTES = 4 * GFS_CACHE_LINE };

/* The list of candidates under construction. */
typedef struct list {
  const gfs_workload *s;
  unsigned furthest; /* longest distance of rows */
  unsigned blocks;   /* longest distance of blocks */
  size_t whole;      /* lines of the call */
  gfs_candidate *candidate;
  unsigned count;
} list;

/* A thread's share of the device's buffer, in lines of the device. */
static double share_of(const gfs_workload *s) {
  return (double)s->device->buffer / ((double)s->threads * s->device->line);
}

/* The least number of visited lines in which a traversal order completes every device line that it
 * has begun, and the number of those device lines. */
typedef struct span {
  unsigned visits, lines;
} span;

static span span_of(const gfs_workload *s, gfs_walk_kind walk, bool streaming) {
  bool block = walk == GFS_WALK_BLOCK || walk == GFS_WALK_BLOCK_SHUFFLED;
  return block ? (span){s->device->line / GFS_CACHE_LINE, 1}
               : (span){s->k + (streaming ? 0 : s->m), s->k};
}

bool gfs_distance_fits(const gfs_workload *s, gfs_walk_kind walk, unsigned distance,
                       bool streaming) {
  span each = span_of(s, walk, streaming);
  double spans = (distance + each.visits - 1) / each.visits;
  return s->device->buffer == 0 || spans * each.lines <= share_of(s);
}

unsigned gfs_distance_furthest(const gfs_workload *s, gfs_walk_kind walk, bool streaming) {
  span each = span_of(s, walk, streaming);
  double spans = share_of(s) / each.lines;
  if (s->device->buffer == 0 || spans >= (double)GFSMITH_ADAPTIVE_DISTANCE_MAX / each.visits)
    return GFSMITH_ADAPTIVE_DISTANCE_MAX;
  return (unsigned)spans * each.visits;
}

gfs_contention_level gfs_contention_counted(const gfsmith_adaptive_options *o, double contention,
                                            double useless) {
  if (contention < 0)
    return GFS_CONTENTION_UNKNOWN;
  if (contention <= o->contention)
    return GFS_CONTENTION_LOW;
  if (useless < 0)
    return GFS_CONTENTION_UNKNOWN;
  return useless > o->useless ? GFS_CONTENTION_HIGH : GFS_CONTENTION_LOW;
}

gfs_contention_level gfs_workload_contention(const gfs_workload *s,
                                             const gfsmith_adaptive_options *o) {
  bool many =
      o->threads > 0 ? s->threads > o->threads : !gfs_distance_fits(s, GFS_WALK_ROW, s->k, true);
  if (many || s->counted == GFS_CONTENTION_HIGH)
    return GFS_CONTENTION_HIGH;
  bool known = s->device->buffer > 0 || o->threads > 0;
  return known ? GFS_CONTENTION_LOW : s->counted;
}

size_t gfs_workload_lines(const gfs_workload *s) {
  return (s->len + GFS_CACHE_LINE - 1) / GFS_CACHE_LINE * s->k;
}

static void append(list *l, gfs_policy policy, const char *why) {
  if (l->s->have[policy.walk][policy.streaming] && l->count < GFS_CANDIDATES_MAX)
    l->candidate[l->count++] = (gfs_candidate){policy, why};
}

/* Append a traversal order with one distance and with ordinary stores or, if there is no such
 * kernel, with streaming stores; hill climbing tries the other type at the end. From DRAM on Zen 4,
 * kernels with ordinary stores were up to a third faster. */
static void add(list *l, gfs_walk_kind walk, unsigned distance, unsigned first, const char *why) {
  bool streaming = walk >= GFS_WALK_PIPELINED && !l->s->have[walk][false];
  append(l, (gfs_policy){walk, distance, first, streaming, false}, why);
}

/* Initial distances: one, two, four, eight and sixteen lines of every source, and all lines of the
 * call, which is then prefetched as a whole. The paper begins with the first alone; but the
 * throughput between these distances depends on the memory, and hill climbing moves by 16 lines.
 * With streaming stores: eight lines or the whole call, which were best with eight parities of 256
 * bytes. */
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
    append(l, (gfs_policy){walk, far, 0, true, false}, why);
}

/* For wide stripes also rows at a half and one and a half lines of every source: hill climbing
 * would need many steps to reach them, each within the noise of a trial. For few sources also rows
 * with streaming stores at a short distance, which are best at 4+8 from 2 KiB on. */
static void add_rows(list *l, bool wide, const char *why) {
  unsigned k = l->s->k, furthest = l->furthest;
  add_pipelined(l, GFS_WALK_ROW, why);
  for (unsigned halves = 1; wide && halves <= 3; halves += 2)
    if (k * halves / 2 <= furthest)
      add(l, GFS_WALK_ROW, k * halves / 2, 0, why);
  if (!wide && k <= furthest && l->s->have[GFS_WALK_ROW][false])
    append(l, (gfs_policy){GFS_WALK_ROW, k, 0, true, false}, why);
}

/* Blocks at four lines of every source: best at 100+8 and 154+8 with 5 KiB. If a block is a whole
 * source, blocks without prefetch: at 10+8 with 256 bytes they take a quarter less time than other
 * policies. */
static void add_blocks(list *l, const char *why) {
  unsigned k = l->s->k, furthest = l->blocks;
  if (l->s->len <= BLOCK_BYTES)
    add(l, GFS_WALK_BLOCK, 0, 0, "one iteration of the block kernel is the whole call");
  unsigned distance = (unsigned)gfs_least(4 * k, l->whole);
  if (distance > k && distance <= furthest)
    add(l, GFS_WALK_BLOCK, distance, 0, why);
}

/* The order of rows for whole pages, and the shuffled one for the rest of a longer shard: beyond
 * the last whole page hardware prefetchers fetch lines behind the shard's end (section 4.1). */
static void add_stopped_rest(list *l, unsigned distance) {
  bool streaming = !l->s->have[GFS_WALK_ROW][false];
  if (l->s->have[GFS_WALK_SHUFFLED][streaming])
    append(l, (gfs_policy){GFS_WALK_ROW, distance, 0, streaming, true},
           "whole pages keep the hardware prefetcher, the rest stops it");
}

static void add_stopped(list *l, bool more_than_pages, const char *why) {
  unsigned k = l->s->k;
  unsigned row = (unsigned)gfs_least(k, l->furthest), block = (unsigned)gfs_least(k, l->blocks);
  if (more_than_pages)
    add_stopped_rest(l, row);
  add(l, GFS_WALK_SHUFFLED, row, 0, why);
  add(l, GFS_WALK_BLOCK_SHUFFLED, block, 0, why);
  add(l, GFS_WALK_BLOCK, block, 0, why);
}

/* Append a traversal order with two distances, the first lines of the device's lines being
 * prefetched earlier, and with streaming stores: parities written through the cache would be
 * additional streams that the hardware prefetcher follows. */
static void add_two(list *l, gfs_walk_kind walk, unsigned distance, unsigned extra) {
  append(l, (gfs_policy){walk, distance, distance + extra, l->s->have[walk][true], false},
         "first lines of the device's lines are prefetched earlier");
}

/* Candidates for a device with lines longer than the CPU's. Each device line should be read
 * completely before the buffer evicts it, which blocks do at any level of contention. */
static void add_long_lines(list *l, unsigned extra, bool high) {
  unsigned k = l->s->k;
  if (!high) {
    add_two(l, GFS_WALK_ROWS4, k, extra);
    add_two(l, GFS_WALK_ROWS4, (k + 1) / 2, extra);
    add_two(l, GFS_WALK_SHUFFLED, k, extra);
  }
  add_two(l, GFS_WALK_BLOCK, (unsigned)gfs_least(k, l->blocks), extra);
}

unsigned gfs_candidates_write(const gfs_workload *s, const gfsmith_adaptive_options *o,
                              gfs_candidate candidates[GFS_CANDIDATES_MAX]) {
  list l = {.s = s, .candidate = candidates};
  l.furthest = gfs_distance_furthest(s, GFS_WALK_ROW, true);
  l.blocks = gfs_distance_furthest(s, GFS_WALK_BLOCK, true);
  l.whole = gfs_workload_lines(s);
  gfs_contention_level pressure = gfs_workload_contention(s, o);
  bool wide = s->k > s->device->streams, pages = s->len % o->page == 0;
  bool more_than_pages = !wide && !pages && s->len > o->page;
  add(&l, GFS_WALK_DEFAULT, 0, 0, "the library's behaviour without a coordinator");
  if (pressure == GFS_CONTENTION_HIGH)
    add_stopped(&l, more_than_pages, "high contention: these orders stop hardware prefetchers");
  add(&l, GFS_WALK_PLAIN, 0, 0,
      wide ? "wide stripe: hardware prefetchers give up, no prefetching"
           : "hardware prefetchers alone");
  if (s->device->line > GFS_CACHE_LINE)
    add_long_lines(&l, o->first_extra, pressure == GFS_CONTENTION_HIGH);
  const char *soft = wide    ? "wide stripe: software prefetch only"
                     : pages ? "whole pages keep the hardware prefetcher, software prefetches too"
                             : "software prefetch in addition to the hardware's";
  add_rows(&l, wide, soft);
  add_pipelined(&l, GFS_WALK_ROWS4, soft);
  if (pressure != GFS_CONTENTION_LOW)
    add_blocks(&l, soft);
  if (pressure == GFS_CONTENTION_UNKNOWN && !wide && !pages)
    add_stopped(&l, more_than_pages,
                "contention is not known: orders that stop hardware prefetchers are timed");
  return l.count;
}
