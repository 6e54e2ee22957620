#include "gfsmith_parallel.h"

#include <stdatomic.h>

#include "executor.h"
#include "parts.h"
#include "path.h"
#include "sizes.h"

/* The shortest call that is shared has this number of tasks, if there are enough workers: a thread
 * that starts late leaves most of them to the others. */
#define TASKS_MIN 8u

/* Tasks for each worker, so that the others can take over the tasks of a thread that is slower or
 * occupied elsewhere. */
#define TASKS_PER_WORKER 4u

/* A call that several threads share. */
typedef struct shared_call shared_call;
struct shared_call {
  /* Compute bytes of all shards, from the given pointers on. */
  void (*part)(shared_call *call, size_t len, const uint8_t *const *src, uint8_t *const *dst);
  const gfsmith_codec *codec;
  union {
    const gfsmith_plan *plan;
    const gfs_change *change;
  } of;
  gfsmith_hint hint;
  const uint8_t *const *src;
  uint8_t *const *dst;
  unsigned inputs, outputs; /* at most GFSMITH_MAX_SHARDS of each */
  size_t len;
  /* Tasks begin at byte 0 and at some of the bytes start + n * unit. */
  size_t start, unit;
  unsigned tasks;
  atomic_bool differs; /* the result of a check; its threads stop when it becomes true */
};

static size_t least_shared(const gfsmith_executor *executor) {
  return executor->least != 0 ? executor->least : GFS_SHARED_BYTES;
}

/* Without a division, because a short call over an executor must cost no more than this. */
bool gfs_is_shared(const gfsmith_executor *executor, unsigned shards, size_t len) {
  return executor != NULL && executor->workers > 1 && executor->run != NULL &&
         (uint64_t)len * shards >= least_shared(executor);
}

static bool is_shared(const gfsmith_codec *codec, const gfsmith_executor *executor, unsigned shards,
                      size_t len) {
  return codec != NULL && gfs_is_shared(executor, shards, len);
}

/* The number of shards of a codec; any number for NULL, which is_shared refuses. */
static unsigned all_shards(const gfsmith_codec *codec) {
  return codec != NULL ? codec->k + codec->m : 1;
}

/* The first byte of task n; the end of the last one for n = tasks. */
static size_t task_begin(const shared_call *call, unsigned n) {
  if (n == 0)
    return 0;
  if (n == call->tasks)
    return call->len;
  size_t units = (call->len - call->start) / call->unit;
  return call->start + (units / call->tasks * n + gfs_least(n, units % call->tasks)) * call->unit;
}

static void run_task(void *argument, unsigned index) {
  shared_call *call = argument;
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  size_t begin = task_begin(call, index);
  for (unsigned j = 0; j < call->inputs; j++)
    src[j] = call->src[j] + begin;
  for (unsigned i = 0; i < call->outputs; i++)
    dst[i] = call->dst[i] + begin;
  call->part(call, task_begin(call, index + 1) - begin, src, dst);
}

/* Choose the ranges. The first one ends at a cache line of the first written shard. */
static void cut_tasks(shared_call *call, const gfsmith_executor *executor) {
  const gfs_packets *packets = call->codec->packets;
  const uint8_t *first = call->outputs > 0 ? call->dst[0] : call->src[0];
  call->unit = packets != NULL ? GFS_PACKETS * packets->packet : GFS_CACHE_LINE;
  call->start = packets != NULL ? 0 : (size_t)(-(uintptr_t)first % GFS_CACHE_LINE);
  size_t most = gfs_least(executor->workers, UINT32_MAX / TASKS_PER_WORKER) * TASKS_PER_WORKER;
  size_t shortest = least_shared(executor) / TASKS_MIN / (call->inputs + call->outputs);
  if (shortest < call->unit)
    shortest = call->unit;
  call->tasks = (unsigned)gfs_least(most, call->len / shortest);
}

/* Perform a call whose arguments are checked. */
static void share(shared_call *call, const gfsmith_executor *executor) {
  /* The location of the shards depends on the whole call, of which a part would fit in a cache. */
  unsigned shards = call->inputs + call->outputs;
  bool cached = gfs_path_is_cached(gfs_path_of(call->codec->hint, shards, call->len));
  call->hint = cached ? GFSMITH_HINT_CACHED : GFSMITH_HINT_STREAMING;
  cut_tasks(call, executor);
  if (call->tasks > 1) {
    executor->run(executor->context, call->tasks, run_task, call);
  } else {
    call->tasks = 1;
    run_task(call, 0);
  }
}

static void encode_in_task(shared_call *call, size_t len, const uint8_t *const *src,
                           uint8_t *const *dst) {
  gfs_encode_part(call->codec, call->hint, len, src, dst);
}

gfsmith_status gfsmith_encode_parallel(const gfsmith_codec *codec, const gfsmith_executor *executor,
                                       size_t len, const uint8_t *const *data,
                                       uint8_t *const *parity) {
  if (!is_shared(codec, executor, all_shards(codec), len))
    return gfsmith_encode(codec, len, data, parity);
  if (!gfs_encode_valid(codec, len, data, parity))
    return GFSMITH_EINVAL;
  shared_call call = {.part = encode_in_task, .codec = codec, .src = data, .dst = parity};
  call.len = len;
  call.inputs = codec->k;
  call.outputs = codec->m;
  share(&call, executor);
  return GFSMITH_OK;
}

static void change_in_task(shared_call *call, size_t len, const uint8_t *const *src,
                           uint8_t *const *dst) {
  gfs_change change = *call->of.change;
  change.hint = call->hint;
  change.sources = src;
  gfs_change_part(&change, len, dst);
}

/* Apply a change to the parities, at most GFSMITH_MAX_SHARDS shards at a time. */
static gfsmith_status share_change(const gfs_change *all, const gfsmith_executor *executor,
                                   size_t len, uint8_t *const *parity) {
  gfsmith_status status = gfs_change_check(all, len, parity);
  if (status != GFSMITH_OK)
    return status;
  gfs_change some = *all;
  for (unsigned done = 0; done < all->count; done += some.count) {
    some.count = (unsigned)gfs_least(all->count - done, GFSMITH_MAX_SHARDS);
    some.index = all->index + done;
    some.sources = all->sources + done;
    shared_call call = {.part = change_in_task, .codec = all->codec, .of.change = &some};
    call.src = some.sources;
    call.dst = parity;
    call.len = len;
    call.inputs = some.count;
    call.outputs = all->codec->m;
    share(&call, executor);
  }
  return GFSMITH_OK;
}

/* The number of shards that a change of `count` accesses, as all_shards. */
static unsigned changed_shards(const gfsmith_codec *codec, unsigned count) {
  unsigned sources = (unsigned)gfs_least(count, GFSMITH_MAX_SHARDS);
  return codec != NULL ? sources + codec->m : 1;
}

gfsmith_status gfsmith_update_many_parallel(const gfsmith_codec *codec,
                                            const gfsmith_executor *executor, size_t len,
                                            unsigned count, const unsigned *indices,
                                            const uint8_t *const *deltas, uint8_t *const *parity) {
  if (count == 0 || !is_shared(codec, executor, changed_shards(codec, count), len))
    return gfsmith_update_many(codec, len, count, indices, deltas, parity);
  gfs_change change = {codec, codec->hint, count, indices, deltas, false};
  return share_change(&change, executor, len, parity);
}

gfsmith_status gfsmith_append_parallel(const gfsmith_codec *codec, const gfsmith_executor *executor,
                                       size_t len, unsigned data_index, const uint8_t *data,
                                       uint8_t *const *parity, bool first) {
  if (!is_shared(codec, executor, changed_shards(codec, 1), len))
    return gfsmith_append(codec, len, data_index, data, parity, first);
  gfs_change change = {codec, codec->hint, 1, &data_index, &data, first};
  return share_change(&change, executor, len, parity);
}

gfsmith_status gfsmith_update_parallel(const gfsmith_codec *codec, const gfsmith_executor *executor,
                                       size_t len, unsigned data_index, const uint8_t *delta,
                                       uint8_t *const *parity) {
  return gfsmith_append_parallel(codec, executor, len, data_index, delta, parity, false);
}

static void repair_in_task(shared_call *call, size_t len, const uint8_t *const *src,
                           uint8_t *const *dst) {
  gfs_plan_part(call->of.plan, call->hint, len, src, dst);
}

/* Run a plan on shards whose pointers may be NULL. */
static gfsmith_status share_plan(const gfsmith_codec *codec, const gfsmith_plan *plan,
                                 const gfsmith_executor *executor, size_t len,
                                 uint8_t *const *shards) {
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  if (!gfs_plan_select(plan, shards, src, dst))
    return GFSMITH_EINVAL;
  shared_call call = {.part = repair_in_task, .codec = codec, .of.plan = plan};
  call.src = src;
  call.dst = dst;
  call.len = len;
  call.inputs = plan->read.count;
  call.outputs = plan->target.count;
  share(&call, executor);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_reconstruct_parallel(const gfsmith_codec *codec,
                                            const gfsmith_executor *executor, size_t len,
                                            uint8_t *const *shards, const bool *present,
                                            const bool *wanted) {
  if (!is_shared(codec, executor, all_shards(codec), len))
    return gfsmith_reconstruct(codec, len, shards, present, wanted);
  gfs_repair repair;
  gfsmith_status status = gfs_repair_begin(codec, len, shards, present, wanted, &repair);
  if (status != GFSMITH_OK)
    return status;
  if (repair.plan != NULL)
    status = share_plan(codec, repair.plan, executor, len, shards);
  gfs_repair_end(codec, &repair);
  return status;
}

/* Check in steps, so that the thread stops soon after another one has found a difference. */
static void check_in_task(shared_call *call, size_t len, const uint8_t *const *src,
                          uint8_t *const *dst) {
  (void)dst;
  const uint8_t *at[GFSMITH_MAX_SHARDS];
  size_t step = gfs_limits_here()->own_cache / call->inputs / call->unit * call->unit, part;
  if (step == 0)
    step = call->unit;
  for (size_t done = 0; done < len; done += part) {
    if (atomic_load_explicit(&call->differs, memory_order_relaxed))
      return;
    part = gfs_least(len - done, step);
    for (unsigned n = 0; n < call->inputs; n++)
      at[n] = src[n] + done;
    if (!gfs_check_part(call->codec, call->hint, part, at))
      atomic_store_explicit(&call->differs, true, memory_order_relaxed);
  }
}

gfsmith_status gfsmith_check_parallel(const gfsmith_codec *codec, const gfsmith_executor *executor,
                                      size_t len, const uint8_t *const *shards, bool *ok) {
  if (!is_shared(codec, executor, all_shards(codec), len))
    return gfsmith_check(codec, len, shards, ok);
  if (!gfs_check_valid(codec, len, shards, ok))
    return GFSMITH_EINVAL;
  shared_call call = {.part = check_in_task, .codec = codec, .src = shards};
  call.len = len;
  call.inputs = codec->k + codec->m;
  atomic_init(&call.differs, false);
  share(&call, executor);
  *ok = !atomic_load_explicit(&call.differs, memory_order_relaxed);
  return GFSMITH_OK;
}
