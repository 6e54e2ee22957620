#include "call_path.h"

#include "pipeline.h"
#include "thread.h"
#include "trace.h"
#include "tuner.h"

/* The state of a thread for one coordinator. */
typedef struct state {
  atomic_bool busy; /* in use; a call in a handler of a signal then runs with the default policy */
  int cancel;       /* while in use: whether the thread could be cancelled before */
  uint32_t owner;   /* id of the coordinator to which the other members belong; 0: none */
  /* The cell of the previous call: most calls have the same one. */
  _Atomic uint32_t map; /* part of its cell's key; 0: none, or the state is in use */
  uint32_t conditions;  /* another part */
  size_t len;
  bool batched;
  gfs_cell *cell;
  gfs_tuner tuner;
  gfs_batch batch; /* of the search that this thread drives */
} state;

/* A thread with a few coordinators registers once with each. */
enum { STATES = 4 };

static _Thread_local struct {
  state of[STATES]; /* by the last bits of the coordinator's id */
  uint32_t owner;   /* id of the coordinator of the previous call */
} this_thread;

/* A call: on one stripe, or a batch call. */
typedef struct call {
  gfs_path path;
  bool batched;
  size_t len;
  gfs_stripes stripes;
} call;

/* The state for a coordinator. Its batch ends if calls of another coordinator came between. */
static inline state *state_of(const gfsmith_adaptive *adaptive) {
  state *s = &this_thread.of[adaptive->id % STATES];
  if (this_thread.owner != adaptive->id && !atomic_load_explicit(&s->busy, memory_order_relaxed)) {
    this_thread.owner = adaptive->id;
    gfs_batch_break(&s->batch);
  }
  return s;
}

/* The initial policy of a new cell: that of the cell with the same shape and length, one thread and
 * low contention, if that exists. */
static uint32_t first_policy(gfsmith_adaptive *adaptive, uint32_t key) {
  uint32_t conditions = 7u << GFS_KEY_THREADS_AT | GFS_KEY_HIGH;
  const gfs_cell *cell = gfs_cells_find(&adaptive->cells, key & ~conditions);
  gfs_policy otherwise = {.walk = GFS_WALK_DEFAULT};
  return cell != NULL ? atomic_load(&cell->policy) : gfs_policy_pack(otherwise);
}

static gfs_cell *make_cell(const gfs_attached *attached, const call *c, uint32_t key) {
  gfsmith_adaptive *adaptive = gfs_coordinator_of(attached);
  uint32_t packed = first_policy(adaptive, key);
  bool made;
  gfs_cell *cell = gfs_cells_make(&adaptive->cells, key, packed, &made);
  if (cell == NULL)
    gfs_coordinator_blind(adaptive, GFS_BLIND_CELLS,
                          "the table of shapes and lengths is full; further ones run with default");
  if (!made)
    return cell;
  char text[GFS_POLICY_TEXT];
  gfs_policy_text(gfs_policy_unpack(packed), text, sizeof text);
  gfs_trace_write(&adaptive->trace, "cell",
                  ", \"k\": %u, \"m\": %u, \"len\": %llu, \"batched\": %s, \"threads\": %u, "
                  "\"policy\": \"%s\"",
                  attached->k, attached->m, (unsigned long long)c->len,
                  c->batched ? "true" : "false", (unsigned)atomic_load(&adaptive->contention.count),
                  text);
  return cell;
}

/* Begin to use the state: no call in a signal handler finds a cell until `leave`, and the thread is
 * not cancelled. Return the part of the key of the cached cell. */
static uint32_t enter(state *s) {
  atomic_store_explicit(&s->busy, true, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  s->cancel = gfs_cancel_forbid();
  uint32_t map = atomic_load_explicit(&s->map, memory_order_relaxed);
  atomic_store_explicit(&s->map, 0, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  return map;
}

/* The state is consistent. map: the part of the key of the cached cell, 0: none. */
static void leave(state *s, uint32_t map) {
  int cancel = s->cancel;
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&s->map, map, memory_order_relaxed);
  atomic_store_explicit(&s->busy, false, memory_order_relaxed);
  gfs_cancel_restore(cancel);
}

/* Find the cell of a call, and cache it for the next call. NULL: the table is full, or the call is
 * in a signal handler and interrupts a use of the state. */
static gfs_cell *look_up(state *s, const gfs_attached *attached, const call *c) {
  if (atomic_load_explicit(&s->busy, memory_order_relaxed))
    return NULL;
  enter(s);
  gfsmith_adaptive *adaptive = gfs_coordinator_of(attached);
  gfs_batch_break(&s->batch);
  if (s->owner != adaptive->id) {
    s->owner = adaptive->id;
    gfs_tuner_enter(&s->tuner, adaptive, gfs_coordinator_ms(adaptive, gfs_clock_ns()));
    gfs_adaptive_left = 1;
  }
  uint32_t conditions = atomic_load_explicit(&adaptive->conditions, memory_order_relaxed);
  uint32_t key = gfs_attached_key(attached, c->len, c->batched, conditions);
  gfs_cell *cell = gfs_cells_find(&adaptive->cells, key);
  if (cell == NULL)
    cell = make_cell(attached, c, key);
  s->conditions = conditions;
  s->len = c->len;
  s->batched = c->batched;
  s->cell = cell;
  leave(s, cell != NULL ? attached->key : 0);
  return cell;
}

static inline void run_call(const gfs_attached *attached, uint32_t packed, const call *c) {
  const gfs_map *map = attached->variants.map;
  if (!gfs_policy_is_default(packed))
    gfs_pipeline_run(&attached->variants, gfs_policy_unpack(packed),
                     gfs_coordinator_of(attached)->granules, c->path, c->len, &c->stripes);
  else if (c->batched)
    gfs_map_apply_short_stripes(map, c->path, c->len, &c->stripes);
  else
    gfs_map_apply_pieces(map, c->path, c->len, c->stripes.src, c->stripes.dst);
}

static bool searches(const state *s, const gfs_cell *cell) {
  return atomic_load_explicit(&cell->driver, memory_order_relaxed) == s->tuner.driver;
}

/* After a timed call: if the cell has settled on `default`, calls of this length skip the
 * coordinator until the next timed one. */
static void set_quiet(gfs_attached *attached, const gfs_cell *cell, size_t len) {
  bool quiet = atomic_load_explicit(&cell->driver, memory_order_relaxed) == 0 &&
               gfs_policy_is_default(atomic_load_explicit(&cell->policy, memory_order_relaxed));
  size_t was = atomic_load_explicit(&attached->base.quiet, memory_order_relaxed);
  if (quiet ? was != len : was == len)
    atomic_store_explicit(&attached->base.quiet, quiet ? len : 0, memory_order_relaxed);
}

/* A call that is timed on its own or in the batch of a search. */
static void timed(state *s, gfs_attached *attached, gfs_cell *cell, bool searching, const call *c) {
  gfs_batch *batch = &s->batch;
  uint32_t packed = atomic_load_explicit(&cell->policy, memory_order_relaxed);
  if (!searching)
    gfs_batch_break(batch);
  if (gfs_batch_begins(batch))
    gfs_batch_begin(batch, gfs_clock_ns(), c->len * attached->k * c->stripes.count);
  run_call(attached, packed, c);
  if (!gfs_batch_ends(batch, c->stripes.count))
    return;
  gfs_timing timing = {.len = c->len,
                       .batched = c->batched,
                       .begin_ns = batch->begin_ns,
                       .end_ns = gfs_clock_ns(),
                       .packed = packed};
  timing.calls = gfs_batch_end(batch, timing.end_ns);
  gfs_adaptive_left = gfs_batch_rest(batch, gfs_coordinator_of(attached)->options.sample);
  gfs_tuner_feed(attached, &s->tuner, cell, &timing);
  if (!c->batched)
    set_quiet(attached, cell, c->len);
}

static inline void apply_call(gfs_attached *attached, const call *c) {
  gfsmith_adaptive *adaptive = gfs_coordinator_of(attached);
  uint32_t packed = atomic_load_explicit(&adaptive->base.forced, memory_order_relaxed);
  if (packed == 0) {
    state *s = state_of(adaptive);
    gfs_cell *cell = s->cell;
    bool as_before =
        atomic_load_explicit(&s->map, memory_order_relaxed) == attached->key && s->len == c->len &&
        s->batched == c->batched && s->owner == adaptive->id &&
        s->conditions == atomic_load_explicit(&adaptive->conditions, memory_order_relaxed);
    if (!as_before)
      cell = look_up(s, attached, c);
    bool searching = cell != NULL && searches(s, cell);
    if (searching || (cell != NULL && gfs_adaptive_left-- <= 1)) {
      uint32_t map = enter(s);
      timed(s, attached, cell, searching, c);
      leave(s, map);
      return;
    }
    packed = cell != NULL ? atomic_load_explicit(&cell->policy, memory_order_relaxed) : 0;
  }
  run_call(attached, packed, c);
}

void gfs_call_path_apply(gfs_adaptive_map *self, gfs_path path, size_t len,
                         const uint8_t *const *src, uint8_t *const *dst) {
  call c = {path, false, len, {1, src, dst, false}};
  apply_call((gfs_attached *)self, &c);
}

void gfs_call_path_apply_stripes(gfs_adaptive_map *self, gfs_path path, size_t len,
                                 const gfs_stripes *stripes) {
  call c = {path, true, len, *stripes};
  apply_call((gfs_attached *)self, &c);
}
