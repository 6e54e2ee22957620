#include "control.h"

void control_begin(control *call, const char *label, uint64_t total, const options *opt) {
  *call = (control){.shards = {.progress = progress_set, .progress_context = &call->bar}};
  if (gfsmith_pool_create(&call->pool, opt->threads) == GFSMITH_OK) {
    const gfsmith_executor *threads = gfsmith_pool_executor(call->pool);
    call->shards.run = threads->run;
    call->shards.run_context = threads->context;
  }
  progress_begin(&call->bar, label, total, opt->quiet);
}

void control_run(const control *call, unsigned tasks, void (*task)(void *argument, unsigned index),
                 void *argument) {
  const gfsmith_executor *threads = gfsmith_pool_executor(call->pool);
  if (threads != NULL)
    threads->run(threads->context, tasks, task, argument);
  else
    for (unsigned i = 0; i < tasks; i++)
      task(argument, i);
}

void control_end(control *call) {
  progress_end(&call->bar);
  gfsmith_pool_destroy(call->pool);
}
