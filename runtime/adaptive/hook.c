/* What happens in every call: find the cell, run its policy, and time some calls. */
#include "clock.h"
#include "coordinator.h"
#include "pipeline.h"

static _Thread_local gfs_thread this_thread;

uint32_t gfs_attached_key(const gfs_attached *attached, size_t len) {
  const gfsmith_adaptive *adaptive = attached->coordinator;
  return attached->key | gfs_key_length(len, adaptive->options.page) |
         atomic_load_explicit(&adaptive->conditions, memory_order_relaxed);
}

/* One call. */
typedef struct call {
  const gfs_attached *attached;
  gfs_path path;
  size_t len;
  const uint8_t *const *src;
  uint8_t *const *dst;
} call;

static void run_call(const call *c, uint32_t packed) {
  gfs_pipeline_run(&c->attached->variants, gfs_policy_unpack(packed),
                   c->attached->coordinator->device_lines, c->path, c->len, c->src, c->dst);
}

/* The policy to begin with in a cell that is new: that of the same shape and length with one thread
 * and low pressure, if there is one. */
static uint32_t first_policy(gfsmith_adaptive *adaptive, uint32_t key) {
  uint32_t conditions = 7u << GFS_KEY_THREADS_AT | GFS_KEY_HIGH;
  const gfs_cell *cell = gfs_cells_find(&adaptive->cells, key & ~conditions);
  gfs_policy otherwise = {.walk = GFS_WALK_DEFAULT};
  return cell != NULL ? atomic_load(&cell->policy) : gfs_policy_pack(otherwise);
}

static gfs_cell *make_cell(const gfs_attached *attached, size_t len, uint32_t key) {
  gfsmith_adaptive *adaptive = attached->coordinator;
  uint32_t packed = first_policy(adaptive, key);
  bool made;
  gfs_cell *cell = gfs_cells_make(&adaptive->cells, key, packed, &made);
  if (cell == NULL)
    gfs_adaptive_blind(adaptive, GFS_BLIND_CELLS,
                       "more shapes and lengths than there is room for; the others run as default");
  if (!made)
    return cell;
  char text[GFS_POLICY_TEXT];
  gfs_policy_text(gfs_policy_unpack(packed), text, sizeof text);
  gfs_trace_write(&adaptive->trace, "cell",
                  ", \"k\": %u, \"m\": %u, \"len\": %zu, \"threads\": %u, \"policy\": \"%s\"",
                  attached->k, attached->m, len, (unsigned)atomic_load(&adaptive->count), text);
  return cell;
}

/* A call that is timed, or the first of a thread or a cell. */
static void timed(const call *c, uint32_t key, gfs_cell *cell) {
  const gfs_attached *attached = c->attached;
  gfsmith_adaptive *adaptive = attached->coordinator;
  uint64_t before = gfs_clock_ns();
  if (this_thread.owner != adaptive->id)
    gfs_threads_enter(&adaptive->threads, &this_thread, adaptive->id,
                      gfs_adaptive_ms(adaptive, before));
  this_thread.left = adaptive->options.sample;
  if (cell == NULL && (cell = make_cell(attached, c->len, key)) == NULL) {
    run_call(c, 0);
    return;
  }
  uint32_t packed = atomic_load_explicit(&cell->policy, memory_order_relaxed);
  before = gfs_clock_ns();
  run_call(c, packed);
  gfs_adaptive_learn(attached, &this_thread, cell, c->len, packed, before, gfs_clock_ns());
}

void gfs_adaptive_apply(const gfs_adaptive_map *self, gfs_path path, size_t len,
                        const uint8_t *const *src, uint8_t *const *dst) {
  call c = {(const gfs_attached *)self, path, len, src, dst};
  gfsmith_adaptive *adaptive = c.attached->coordinator;
  uint32_t forced = atomic_load_explicit(&adaptive->forced, memory_order_relaxed);
  if (forced != 0) {
    run_call(&c, forced);
    return;
  }
  uint32_t key = gfs_attached_key(c.attached, len);
  gfs_cell *cell = gfs_cells_find(&adaptive->cells, key);
  if (cell == NULL || this_thread.owner != adaptive->id || --this_thread.left == 0 ||
      atomic_load_explicit(&cell->driver, memory_order_relaxed) == this_thread.ticket * 2)
    timed(&c, key, cell);
  else
    run_call(&c, atomic_load_explicit(&cell->policy, memory_order_relaxed));
}
