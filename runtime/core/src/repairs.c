#include "repairs.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* Enough for all losses of one or two shards of codes with up to 22 shards (10 + 4 has 105). */
#define SLOTS 256u

/* Slots that may hold a loss: from its hash on, with wraparound. */
#define PROBES 8u

/* The most bytes of all cached repairs of a codec. It limits wide codes, whose repairs are large
 * (100 + 20 without GFNI: 64 KiB each). */
#define BYTES_MAX ((size_t)1 << 20)

/* Slots are filled but never emptied, so a plan that a reader has found stays valid, and a search
 * can stop at an empty slot. If a codec has more losses than slots, the plans of the others are
 * computed each time. */
struct gfs_repairs {
  _Atomic(size_t) bytes;
  _Atomic(gfsmith_plan *) slot[SLOTS];
};

/* Mixes all bits of the loss (the multiplier is 2^64 over the golden ratio, Knuth vol. 3, 6.4). */
static unsigned hash(const gfs_loss *loss) {
  uint64_t mixed = 0;
  for (unsigned n = 0; n < GFS_LOSS_WORDS; n++) {
    mixed = (mixed ^ loss->missing[n]) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 32 ^ loss->target[n]) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
  }
  return (unsigned)(mixed >> 32 & UINT32_MAX);
}

static bool same(const gfs_loss *a, const gfs_loss *b) { return memcmp(a, b, sizeof *a) == 0; }

gfs_repairs *gfs_repairs_create(void) {
  gfs_repairs *repairs = malloc(sizeof *repairs);
  if (repairs == NULL)
    return NULL;
  atomic_init(&repairs->bytes, 0);
  for (unsigned n = 0; n < SLOTS; n++)
    atomic_init(&repairs->slot[n], NULL);
  return repairs;
}

void gfs_repairs_free(gfs_repairs *repairs) {
  if (repairs == NULL)
    return;
  for (unsigned n = 0; n < SLOTS; n++)
    gfsmith_plan_destroy(atomic_load_explicit(&repairs->slot[n], memory_order_acquire));
  free(repairs);
}

const gfsmith_plan *gfs_repairs_find(const gfs_repairs *repairs, const gfs_loss *loss) {
  unsigned home = hash(loss);
  for (unsigned n = 0; n < PROBES; n++) {
    const gfsmith_plan *found =
        atomic_load_explicit(&repairs->slot[(home + n) % SLOTS], memory_order_acquire);
    if (found == NULL || same(&found->loss, loss))
      return found;
  }
  return NULL;
}

/* Store the plan in the first empty slot for its loss. */
static bool place(gfs_repairs *repairs, gfsmith_plan *plan) {
  unsigned home = hash(&plan->loss);
  for (unsigned n = 0; n < PROBES; n++) {
    gfsmith_plan *there = NULL;
    if (atomic_compare_exchange_strong_explicit(&repairs->slot[(home + n) % SLOTS], &there, plan,
                                                memory_order_release, memory_order_acquire))
      return true;
    if (same(&there->loss, &plan->loss))
      return false;
  }
  return false;
}

bool gfs_repairs_keep(gfs_repairs *repairs, gfsmith_plan *plan) {
  size_t bytes = plan->bytes;
  size_t before = atomic_fetch_add_explicit(&repairs->bytes, bytes, memory_order_relaxed);
  if (before + bytes <= BYTES_MAX && place(repairs, plan))
    return true;
  atomic_fetch_sub_explicit(&repairs->bytes, bytes, memory_order_relaxed);
  return false;
}
