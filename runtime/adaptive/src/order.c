#include "order.h"

#include "prefetch.h"
#include "sizes.h"

static size_t turn_bytes(const gfs_order *order) { return (size_t)GFS_CACHE_LINE * order->lines; }

static size_t offset_of(const gfs_order *order, const gfs_cursor *c) {
  return c->turn + (size_t)GFS_CACHE_LINE * order->line[c->visit];
}

static void step(const gfs_ahead *ahead, gfs_cursor *c) {
  const gfs_order *order = ahead->order;
  c->number++;
  if (order->rows) {
    if (++c->source < ahead->k)
      return;
    c->source = 0;
    if (++c->visit < order->lines)
      return;
    c->visit = 0;
  } else {
    if (++c->visit < order->lines)
      return;
    c->visit = 0;
    if (++c->source < ahead->k)
      return;
    c->source = 0;
  }
  c->turn += turn_bytes(order);
}

/* Is the visited line the first of a device line? An iteration is a whole number of device lines,
 * so the answer is the same in every iteration. */
static bool is_first(const gfs_ahead *ahead, const gfs_cursor *c) {
  uintptr_t line = (uintptr_t)ahead->src[c->source] / GFS_CACHE_LINE + ahead->order->line[c->visit];
  return (line & (ahead->device - 1)) == 0;
}

/* Move to the next line, this one included, that is (or is not) a first line. */
static void seek(const gfs_ahead *ahead, bool first, gfs_cursor *c) {
  while (is_first(ahead, c) != first)
    step(ahead, c);
}

static void start(const gfs_ahead *ahead, gfs_asking *asking) {
  *asking = (gfs_asking){.first = {.number = 0}};
  if (ahead->device > 1) {
    seek(ahead, true, &asking->first);
    seek(ahead, false, &asking->other);
  }
}

/* The next line to prefetch. */
static gfs_cursor next(const gfs_ahead *ahead, gfs_asking *asking) {
  bool first = ahead->device > 1 &&
               asking->first.number + ahead->distance <= asking->other.number + ahead->first;
  gfs_cursor *from = first ? &asking->first : &asking->other;
  gfs_cursor taken = *from;
  step(ahead, from);
  if (ahead->device > 1)
    seek(ahead, first, from);
  return taken;
}

static void ask(const gfs_ahead *ahead, const gfs_cursor *c) {
  size_t offset = offset_of(ahead->order, c);
  if (offset < ahead->len)
    GFS_PREFETCH_SECOND(ahead->src[c->source] + offset);
}

static bool over(const gfs_ahead *ahead, const gfs_asking *asking) {
  return asking->other.turn >= ahead->len &&
         (ahead->device == 1 || asking->first.turn >= ahead->len);
}

/* The average prefetch distance, in visits. */
static size_t mean_distance(const gfs_ahead *ahead) {
  if (ahead->device == 1)
    return ahead->distance;
  size_t firsts = 1, others = ahead->device - 1;
  return (firsts * ahead->first + others * ahead->distance + ahead->device / 2) / ahead->device;
}

/* Write pointers to lines from .. to of the iteration that begins at `turn`: groups with one offset
 * each. */
static void fill(const gfs_ahead *ahead, size_t from, size_t to, size_t turn, const uint8_t **out) {
  const gfs_order *order = ahead->order;
  const uint8_t *const *src = ahead->src;
  size_t width = order->rows ? ahead->k : order->lines;
  size_t outer = from / width, inner = from % width;
  while (from < to) {
    size_t count = gfs_least(width - inner, to - from);
    if (order->rows) {
      size_t offset = turn + (size_t)GFS_CACHE_LINE * order->line[outer];
      for (size_t n = 0; n < count; n++)
        out[n] = src[inner + n] + offset;
    } else {
      const uint8_t *at = src[outer] + turn;
      for (size_t n = 0; n < count; n++)
        out[n] = at + (size_t)GFS_CACHE_LINE * order->line[inner + n];
    }
    out += count;
    from += count;
    outer++;
    inner = 0;
  }
}

static void fill_two(const gfs_ahead *ahead, gfs_asking asking, const uint8_t **out) {
  for (size_t n = gfs_order_visits(ahead->order, ahead->k); n > 0; n--) {
    gfs_cursor c = next(ahead, &asking);
    *out++ = ahead->src[c.source] + offset_of(ahead->order, &c);
  }
}

/* The greatest number of iterations between a visit and the line that it prefetches; the lines
 * after the lead are prefetched in the first iteration. */
static size_t reach(const gfs_ahead *ahead, gfs_asking asking) {
  size_t visits = gfs_order_visits(ahead->order, ahead->k), furthest = 0;
  if (ahead->device == 1)
    return (visits - 1 + ahead->distance) / visits;
  for (size_t n = visits; n > 0; n--) {
    gfs_cursor c = next(ahead, &asking);
    furthest = c.turn > furthest ? c.turn : furthest;
  }
  return furthest / turn_bytes(ahead->order);
}

/* The position of the line with this number. */
static gfs_cursor cursor_at(const gfs_ahead *ahead, size_t number) {
  const gfs_order *order = ahead->order;
  size_t visits = gfs_order_visits(order, ahead->k), in = number % visits;
  size_t width = order->rows ? ahead->k : order->lines;
  unsigned outer = (unsigned)(in / width), inner = (unsigned)(in % width);
  return (gfs_cursor){.number = number,
                      .turn = number / visits * turn_bytes(order),
                      .visit = order->rows ? outer : inner,
                      .source = order->rows ? inner : outer};
}

void gfs_ahead_begin(gfs_ahead *ahead, gfs_asking *asking, const uint8_t **pointers) {
  size_t k = ahead->k, visits = gfs_order_visits(ahead->order, k);
  size_t bytes = turn_bytes(ahead->order), turns = ahead->len / bytes;
  if (ahead->first == 0 || ahead->order->lines % ahead->device != 0)
    ahead->device = 1;
  ahead->lead = mean_distance(ahead);
  start(ahead, asking);
  if (ahead->device == 1)
    asking->other = cursor_at(ahead, ahead->lead);
  else
    for (size_t n = 0; n < ahead->lead; n++)
      next(ahead, asking);
  size_t turns_ahead = reach(ahead, *asking);
  ahead->piped = turns > turns_ahead ? (turns - turns_ahead) * bytes : 0;
  if (ahead->piped == 0)
    return;
  for (size_t j = 0; j < k; j++)
    pointers[j] = ahead->src[j];
  if (ahead->device > 1) {
    fill_two(ahead, *asking, pointers + k);
    return;
  }
  size_t turn = ahead->distance / visits * bytes, from = ahead->distance % visits;
  fill(ahead, from, visits, turn, pointers + k);
  fill(ahead, 0, from, turn + bytes, pointers + k + visits - from);
}

size_t gfs_ahead_across(const gfs_ahead *ahead, const uint8_t *const *next,
                        const uint8_t **pointers) {
  size_t k = ahead->k, bytes = turn_bytes(ahead->order);
  size_t whole = ahead->len / bytes * bytes;
  gfs_ahead other = *ahead;
  other.src = next;
  for (size_t j = 0; j < k; j++)
    pointers[j] = ahead->src[j] + ahead->piped;
  fill(&other, 0, gfs_order_visits(ahead->order, k), 0, pointers + k);
  for (size_t j = 0; j < k && ahead->piped == 0 && ahead->lead > 0; j++)
    gfs_prefetch_second(next[j] + whole, ahead->len - whole);
  return whole - ahead->piped;
}

/* Prefetch the complete rows of the lead source by source, as sequential accesses. */
static void lead_rows(const gfs_ahead *ahead, size_t rows, size_t rest) {
  for (size_t j = 0; j < ahead->k; j++) {
    size_t lines = rows + (j < rest);
    gfs_prefetch_second(ahead->src[j], gfs_least(lines * GFS_CACHE_LINE, ahead->len));
  }
}

void gfs_ahead_lead(const gfs_ahead *ahead) {
  gfs_asking asking;
  if (ahead->device == 1) {
    lead_rows(ahead, ahead->lead / ahead->k, ahead->lead % ahead->k);
    return;
  }
  start(ahead, &asking);
  for (size_t n = ahead->lead; n > 0 && !over(ahead, &asking); n--) {
    gfs_cursor c = next(ahead, &asking);
    ask(ahead, &c);
  }
}

void gfs_ahead_rest(const gfs_ahead *ahead, const gfs_asking *asking) {
  size_t visits = gfs_order_visits(ahead->order, ahead->k);
  gfs_asking left = *asking;
  left.first.turn += ahead->piped;
  left.other.turn += ahead->piped;
  left.first.number += ahead->piped / turn_bytes(ahead->order) * visits;
  left.other.number += ahead->piped / turn_bytes(ahead->order) * visits;
  while (!over(ahead, &left)) {
    gfs_cursor c = next(ahead, &left);
    ask(ahead, &c);
  }
}
