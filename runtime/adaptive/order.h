/* order.h: in which order a pipelined kernel visits lines, and in which order they are asked for.
 *
 * A turn of the main loop visits k * lines lines of 64 bytes, `lines` of every source. Counted from
 * the start of a call, visit n of turn t has the number t * k * lines + n. */
#ifndef GFS_ORDER_H
#define GFS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most lines of a source that a turn visits. */
enum { GFS_LINES_MAX = 8 };

typedef struct gfs_order {
  uint8_t lines;               /* of a source in a turn */
  bool rows;                   /* one line of every source, then the next; else source by source */
  uint8_t line[GFS_LINES_MAX]; /* the v-th that is visited of a source, or row */
} gfs_order;

/* Pointers that a kernel of this order is given for k sources: the sources, then what it asks for
 * at each visit of a turn. */
static inline size_t gfs_order_visits(const gfs_order *order, size_t k) { return k * order->lines; }

/* One call's lines in the order in which they are asked for. `distance` and `first` as in
 * gfs_policy, both resolved.
 *
 * With one distance that is the order of the visits. With two, each line wants to be asked for at
 * its own visit less its own distance, and lines are asked for in the order of these numbers, one a
 * visit: every line once, first lines `first` visits ahead on the whole and the others `distance`.
 */
typedef struct gfs_ahead {
  const gfs_order *order;
  const uint8_t *const *src;
  size_t k, len;
  unsigned distance, first;
  unsigned device; /* lines of 64 bytes in a line of the device; 1: no first lines */
  size_t lead;     /* lines that are asked for before the first visit */
  size_t piped;    /* bytes of every shard for which what is asked for is inside of the call */
} gfs_ahead;

/* Where in one call's lines. */
typedef struct gfs_cursor {
  size_t turn;    /* bytes before the turn */
  size_t number;  /* of the visit */
  unsigned visit; /* v */
  unsigned source;
} gfs_cursor;

/* The same with two distances: the next first line and the next other line. */
typedef struct gfs_asking {
  gfs_cursor first, other;
} gfs_asking;

/* Complete what is computed of it: device is 1 where it does not divide a turn. The lead and the
 * pipelined part follow; pointers[0 .. k + visits) are written: sources, then what the visits of
 * the first turn ask for. Later turns ask for the same at their own position. */
void gfs_ahead_begin(gfs_ahead *ahead, gfs_asking *asking, const uint8_t **pointers);

/* Ask for the lead: before the kernel runs. */
void gfs_ahead_lead(const gfs_ahead *ahead);

/* Ask for what the pipelined part did not: before the rest is computed. */
void gfs_ahead_rest(const gfs_ahead *ahead, const gfs_asking *asking);

#endif
