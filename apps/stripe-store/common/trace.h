/* A file with a line for each operation, graph, read and write, for measurements (--trace). The
 * first field of a line is the time in nanoseconds of CLOCK_MONOTONIC, which all processes of a
 * machine share:
 *
 *   TIME operation JOB PRIMITIVE CALCULATOR LENGTH NANOSECONDS STATUS   as in gfsmith_trace
 *   TIME graph JOB encode|fetch|repair|rebuild                          written by the agent
 *   TIME read LOST NANOSECONDS      a successful read; LOST: chunks that were computed
 *   TIME write NANOSECONDS          a successful write
 *
 * Each line is written at once, so that readers of a running or killed process see all of them.
 * Any thread. All functions do nothing if the trace is NULL. */
#ifndef STORE_TRACE_H
#define STORE_TRACE_H

#include "gfsmith_compose.h"

#include <stdbool.h>

typedef struct trace trace;

/* Append to the file RANK in a folder. A folder of NULL is no trace. False: failed, with a message.
 */
bool trace_open(trace **out, const char *folder, unsigned rank);
void trace_close(trace *t);
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t trace_now(void);

void trace_operation(trace *t, const gfsmith_trace *operation);
void trace_graph(trace *t, uint64_t job, const char *kind);
void trace_read(trace *t, unsigned lost, uint64_t began);
void trace_write(trace *t, uint64_t began);

#endif
