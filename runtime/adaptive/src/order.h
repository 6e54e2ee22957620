/* order.h: the order in which a pipelined kernel visits lines, and the order in which it prefetches
 * them.
 *
 * An iteration (turn) of the main loop visits k * lines lines of 64 bytes, `lines` of every source.
 * Counted from the start of a call, visit n of iteration t has the number t * k * lines + n. */
#ifndef GFS_ORDER_H
#define GFS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most lines of a source that an iteration visits. */
enum { GFS_LINES_MAX = 8 };

typedef struct gfs_order {
  uint8_t lines; /* lines of a source in an iteration */
  bool rows;     /* one line of every source, then the next line; else source by source */
  uint8_t line[GFS_LINES_MAX]; /* line[v]: the v-th visited line of a source, or row */
} gfs_order;

/* The number of pointers that a kernel of this order takes for k sources: the sources, then the
 * prefetch address of each visit of an iteration. */
static inline size_t gfs_order_visits(const gfs_order *order, size_t k) { return k * order->lines; }

/* The lines of one call in prefetch order. `distance` and `first` as in gfs_policy, both resolved.
 *
 * With one distance the prefetch order is the order of the visits. With two, each line has a due
 * number: the number of its visit minus its distance. Lines are prefetched in the order of their
 * due numbers, one per visit: every line once, first lines on average `first` visits ahead and the
 * others `distance`.
 */
typedef struct gfs_ahead {
  const gfs_order *order;
  const uint8_t *const *src;
  size_t k, len;
  unsigned distance, first;
  unsigned device; /* lines of 64 bytes in a device line; 1: no first lines */
  size_t lead;     /* lines prefetched before the first visit */
  size_t piped;    /* bytes of every shard for which all prefetched lines are within the call */
} gfs_ahead;

/* A position among the lines of a call. */
typedef struct gfs_cursor {
  size_t turn;    /* bytes before the iteration */
  size_t number;  /* number of the visit */
  unsigned visit; /* index of the line in its source or row (v) */
  unsigned source;
} gfs_cursor;

/* The prefetch position with two distances: the next first line and the next other line. */
typedef struct gfs_asking {
  gfs_cursor first, other;
} gfs_asking;

/* Compute the remaining members: device becomes 1 if it does not divide an iteration; the lead and
 * the pipelined part are set; pointers[0 .. k + visits) are written: the sources, then the prefetch
 * addresses of the first iteration. Later iterations add their own offset to them. */
void gfs_ahead_begin(gfs_ahead *ahead, gfs_asking *asking, const uint8_t **pointers);

/* Prefetch the lead, before the kernel runs. */
void gfs_ahead_lead(const gfs_ahead *ahead);

/* Prefetch the lines that the pipelined part left out, before the rest is computed. */
void gfs_ahead_rest(const gfs_ahead *ahead, const gfs_asking *asking);

/* The rest of a call that the same call on sources `next` follows. Write the pointers with which
 * the kernel computes the iterations behind the pipelined part, and prefetches as many of the next
 * call from its first one on: those in which the next call's lead lies, as far as it has them. If
 * these are all, prefetch the bytes behind its last iteration too. Return the bytes of every shard
 * that the kernel computes. */
size_t gfs_ahead_across(const gfs_ahead *ahead, const uint8_t *const *next,
                        const uint8_t **pointers);

#endif
