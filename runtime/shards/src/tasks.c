#include "tasks.h"

#include <stdlib.h>

enum { DEFAULT_MEMORY = 32 << 20, PAGE = 4096 };

void gfs_shards_run(const gfsmith_shards_control *control, unsigned tasks,
                    void (*task)(void *argument, unsigned index), void *argument) {
  if (control->run != NULL && tasks > 1) {
    control->run(control->run_context, tasks, task, argument);
    return;
  }
  for (unsigned i = 0; i < tasks; i++)
    task(argument, i);
}

bool gfs_shards_progress(const gfsmith_shards_control *control, uint64_t done) {
  return control->progress == NULL || control->progress(control->progress_context, done);
}

unsigned gfs_shards_batch(const gfsmith_shards_control *control,
                          const gfsmith_shards_header *header) {
  size_t memory = control->memory != 0 ? control->memory : DEFAULT_MEMORY;
  size_t stripe = (size_t)(header->k + header->m) * (GFS_SHARDS_PREFIX + header->block);
  size_t stripes = memory / 2 / stripe;
  return stripes < 1                         ? 1
         : stripes > GFS_SHARDS_MOST_STRIPES ? GFS_SHARDS_MOST_STRIPES
                                             : (unsigned)stripes;
}

uint8_t *gfs_shards_memory(unsigned shards, size_t size) {
  size_t whole = (shards * size + PAGE - 1) / PAGE * PAGE;
  return aligned_alloc(PAGE, whole);
}
