/* Schedules: lists of operations that copy or add packets, after J. S. Plank, "The RAID-6
 * Liberation codes", FAST 2008. The order of operations was compared with that of Debian's
 * libJerasure. */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "jerasure.h"
#include "packet.h"

/* The numbers of an operation. The header of Jerasure names another order than its library has. The
 * source of the end is -1. */
enum { FROM, FROM_PACKET, TO, TO_PACKET, ADD, OPERATION };

/* A schedule in the making, for a matrix of `rows` rows; list == NULL: no memory. */
typedef struct maker {
  int k, w, rows;
  const int *bits;
  int **list;
  size_t count, space;
} maker;

/* Append an operation and the end of the list, which is an operation too. */
static void append(maker *s, const int *operation) {
  if (s->list != NULL && s->count == s->space) {
    int **more = realloc(s->list, 2 * s->space * sizeof(int *));
    if (more == NULL) {
      for (size_t n = 0; n < s->count; n++)
        free(s->list[n]);
      free(s->list);
    }
    s->list = more;
    s->space *= 2;
  }
  int *made = s->list == NULL ? NULL : malloc(OPERATION * sizeof(int));
  if (s->list == NULL)
    return;
  s->list[s->count++] = made;
  if (made != NULL)
    memcpy(made, operation, OPERATION * sizeof(int));
}

/* Append a packet to the sum of packet `row` of the results: a copy if it is the first. */
static void append_packet(maker *s, int add, int device, int packet, int row) {
  append(s, (const int[OPERATION]){device, packet, s->k + row / s->w, row % s->w, add});
}

static bool begin(maker *s, int k, int m, int w, const int *bitmatrix) {
  *s = (maker){.k = k, .w = w, .rows = m * w, .bits = bitmatrix, .space = 64};
  s->list = k < 1 || m < 0 || w < 1 || bitmatrix == NULL ? NULL : malloc(s->space * sizeof(int *));
  return s->list != NULL;
}

/* Return the schedule with its end; NULL if there was not enough memory. */
static int **end(maker *s) {
  append(s, (const int[OPERATION]){-1, 0, 0, 0, 0});
  bool complete = s->list != NULL;
  for (size_t n = 0; s->list != NULL && n < s->count; n++)
    complete = complete && s->list[n] != NULL;
  if (complete || s->list == NULL)
    return s->list;
  for (size_t n = 0; n < s->count; n++)
    free(s->list[n]);
  free(s->list);
  return NULL;
}

static const int *row_of(const maker *s, int row) {
  return s->bits + (size_t)row * (size_t)s->k * (size_t)s->w;
}

/* Compute a row: the sum of the packets of its bits, or packet `base` of the results (if it is not
 * -1) plus the packets whose bits differ. */
static void append_row(maker *s, int row, int base) {
  const int *bits = row_of(s, row), *others = base < 0 ? NULL : row_of(s, base);
  int add = 0;
  if (base >= 0)
    append_packet(s, add++, s->k + base / s->w, base % s->w, row);
  for (int n = 0; n < s->k * s->w; n++)
    if (bits[n] != (others == NULL ? 0 : others[n])) {
      append_packet(s, add, n / s->w, n % s->w, row);
      add = 1;
    }
}

int **jerasure_dumb_bitmatrix_to_schedule(int k, int m, int w, int *bitmatrix) {
  maker s;
  if (!begin(&s, k, m, w, bitmatrix))
    return NULL;
  for (int row = 0; row < s.rows; row++)
    append_row(&s, row, -1);
  return end(&s);
}

/* The cheapest way to compute a row: from this row, or -1 for its bits, with this number of
 * operations. */
typedef struct way {
  int base, cost;
  bool done;
} way;

static int ones_of(const maker *s, int row) {
  int ones = 0;
  for (int n = 0; n < s->k * s->w; n++)
    ones += row_of(s, row)[n] != 0;
  return ones;
}

static int difference(const maker *s, int row, int base) {
  int count = 1;
  for (int n = 0; n < s->k * s->w; n++)
    count += row_of(s, row)[n] != row_of(s, base)[n];
  return count;
}

/* The first of the cheapest rows that are not done; -1: all are done. */
static int cheapest(const maker *s, const way *ways) {
  int best = -1;
  for (int row = 0; row < s->rows; row++)
    if (!ways[row].done && (best < 0 || ways[row].cost < ways[best].cost))
      best = row;
  return best;
}

int **jerasure_smart_bitmatrix_to_schedule(int k, int m, int w, int *bitmatrix) {
  maker s;
  if (!begin(&s, k, m, w, bitmatrix))
    return NULL;
  way *ways = malloc((size_t)s.rows * sizeof(way) + 1);
  for (int row = 0; ways != NULL && row < s.rows; row++)
    ways[row] = (way){-1, ones_of(&s, row), false};
  for (int row; ways != NULL && (row = cheapest(&s, ways)) >= 0;) {
    append_row(&s, row, ways[row].base);
    ways[row].done = true;
    for (int other = 0; other < s.rows; other++) {
      int cost = ways[other].done ? ways[other].cost : difference(&s, other, row);
      if (cost < ways[other].cost)
        ways[other] = (way){row, cost, false};
    }
  }
  int **made = end(&s);
  if (ways == NULL)
    jerasure_free_schedule(made);
  free(ways);
  return ways == NULL ? NULL : made;
}

void jerasure_free_schedule(int **schedule) {
  if (schedule == NULL)
    return;
  for (int n = 0, last = 0; !last; n++) {
    last = schedule[n][FROM] < 0;
    free(schedule[n]);
  }
  free(schedule);
}

/* Operations on the same destination are one sum, if no source of it is the destination. */
void gfs_jerasure_run(uint8_t *const *ptrs, int *const *schedule, size_t packet) {
  gfs_jerasure_packets sum = {.size = packet};
  for (; (*schedule)[FROM] >= 0; schedule++) {
    const int *operation = *schedule;
    const uint8_t *from = ptrs[operation[FROM]] + (size_t)operation[FROM_PACKET] * packet;
    uint8_t *to = ptrs[operation[TO]] + (size_t)operation[TO_PACKET] * packet;
    if (operation[ADD] == 0 || to != sum.to || from == to) {
      gfs_jerasure_packets_end(&sum);
      sum.to = to;
      sum.adds = operation[ADD] != 0;
    }
    gfs_jerasure_packets_add(&sum, from);
  }
  gfs_jerasure_packets_end(&sum);
}

void jerasure_do_scheduled_operations(char **ptrs, int **schedule, int packetsize) {
  if (packetsize < 0)
    gfs_jerasure_fail(__func__, "packetsize must not be negative");
  gfs_jerasure_run((uint8_t *const *)ptrs, schedule, (size_t)packetsize);
}
