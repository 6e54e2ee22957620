/* Threads for gfsmith_shards_control. */
#ifndef TOOL_WORKERS_H
#define TOOL_WORKERS_H

typedef struct workers workers;

/* Start threads - 1 threads that sleep until there are tasks; 0: one thread for each CPU that the
 * process may use. Returns NULL, with which the calling thread works alone, if there is no need or
 * no memory. */
workers *workers_start(unsigned threads);
/* The `run` of gfsmith_shards_control. The calling thread always performs task 0, so a signal
 * interrupts its blocking read. */
void workers_run(void *context, unsigned tasks, void (*task)(void *argument, unsigned index),
                 void *argument);
void workers_stop(workers *pool);

#endif
