#include "wide_call.h"

#include <stdlib.h>

#include "executor.h"
#include "prefetch.h"
#include "stream.h"

gfs_rows gfs_wide_rows_of(const gfs_wide_work *w, size_t first) {
  const gfs_rows most = gfs_rows_at(w->transform, w->most, w->start);
  return gfs_rows_at(w->transform, w->now.stripes * w->now.part, gfs_rows_row(&most, first));
}

/* Prefetch a slice of a shard; `shard` points to its address in the first stripe. */
static void fetch_slice(const gfs_wide_call *call, const gfs_wide_slice *slice,
                        const uint8_t *const *shard, bool into_first) {
  for (size_t s = slice->stripe; s < slice->stripe + slice->stripes; s++) {
    const uint8_t *part = shard[s * call->sources] + slice->at;
    if (into_first)
      gfs_prefetch_first(part, slice->part);
    else
      gfs_prefetch_second(part, slice->part);
  }
}

void gfs_wide_fetch(const gfs_wide_call *call, const gfs_wide_work *w, const uint8_t *const *shard,
                    const uint8_t *const *later) {
  if (later != NULL)
    fetch_slice(call, &w->now, later, call->slices.fetch_first);
  if (call->slices.kept)
    fetch_slice(call, &w->next, shard, false);
}

void gfs_wide_read(const gfs_wide_call *call, const gfs_wide_work *w, const gfs_rows *rows,
                   size_t i, const uint8_t *const *shard, const uint8_t *const *later) {
  if (call->slices.fetched)
    gfs_wide_fetch(call, w, shard, later);
  gfs_wide_load(call->wide->code->layout, &call->wide->transform, rows, i, &w->now, shard,
                call->sources);
}

void gfs_wide_write(const gfs_wide_call *call, const gfs_wide_work *w, const gfs_rows *rows,
                    size_t i, uint8_t *const *shard) {
  gfs_wide_store(call->wide->code->layout, &call->wide->transform, rows, i, &w->now, shard,
                 call->targets, call->slices.stores);
}

/* Bytes of a task's memory before its rows, a multiple of a cache line. */
static size_t spare_bytes(const gfs_wide_call *call) {
  return call->lost != NULL ? GFS_TRANSFORM_SPARE : 0;
}

static void run_slices(void *argument, unsigned index) {
  gfs_wide_call *call = argument;
  gfs_wide_work work = {.transform = &call->wide->transform,
                        .spare = call->memory + index * call->stride,
                        .start = call->memory + index * call->stride + spare_bytes(call),
                        .most = gfs_wide_row_most(&call->slices)};
  size_t n;
  while ((n = atomic_fetch_add_explicit(&call->next, 1, memory_order_relaxed)) <
         call->slices.total) {
    work.now = gfs_wide_slice_at(&call->slices, n);
    work.next = gfs_wide_slice_at(&call->slices, n + call->slices.tasks);
    call->slice(call, &work);
  }
  if (call->slices.stores != GFS_STREAM_NONE)
    gfs_stream_fence();
}

gfsmith_status gfs_wide_run(gfs_wide_call *call, const gfs_wide_stripes *stripes, size_t rows,
                            const gfsmith_executor *executor) {
  if (stripes->len > SIZE_MAX / stripes->count)
    return GFSMITH_EINVAL;
  const unsigned shards = call->wide->k + call->wide->m;
  const gfs_wide_demand demand = {.shards = shards,
                                  .sources = call->sources,
                                  .rows = rows,
                                  .gapped = call->wide->transform.fours.fft16 != NULL,
                                  .one_block = call->one_block,
                                  .repair = call->lost != NULL};
  bool shared = gfs_is_shared(executor, shards, stripes->len * stripes->count);
  call->slices =
      gfs_wide_slices_of(stripes->len, stripes->count, &demand, shared ? executor->workers : 1);
  const gfs_rows most = gfs_rows_at(&call->wide->transform, gfs_wide_row_most(&call->slices), NULL);
  const size_t tasks = call->slices.tasks, bytes = spare_bytes(call) + gfs_rows_offset(&most, rows);
  call->stride = (bytes + GFS_CACHE_LINE - 1) / GFS_CACHE_LINE * GFS_CACHE_LINE;
  if (tasks > (SIZE_MAX - GFS_CACHE_LINE) / call->stride)
    return GFSMITH_ENOMEM;
  void *allocated = malloc(tasks * call->stride + GFS_CACHE_LINE);
  if (allocated == NULL)
    return GFSMITH_ENOMEM;
  call->memory = (uint8_t *)allocated + gfs_bytes_to_line(allocated);
  atomic_init(&call->next, 0);
  if (tasks > 1)
    executor->run(executor->context, (unsigned)tasks, run_slices, call);
  else
    run_slices(call, 0);
  free(allocated);
  return GFSMITH_OK;
}
