/* trace.h: the clock for timed calls, and the trace: decisions and their reasons as JSON lines.
 * Calls that are not timed use neither. */
#ifndef GFS_TRACE_H
#define GFS_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Nanoseconds of a monotonic clock. */
uint64_t gfs_clock_ns(void);

typedef struct gfs_trace {
  _Atomic(FILE *) file; /* NULL: no trace; written after the other members */
  long process;         /* that writes it: gfs_threads_process(); a child after fork() does not */
  uint64_t start_ns;
  _Atomic uint32_t writers; /* threads that write a line now */
} gfs_trace;

/* Open a file and truncate it. False on failure; nothing is written then. */
bool gfs_trace_open(gfs_trace *trace, const char *file);

/* Close the file. Other threads may write at the same time: their lines are written before, or not
 * at all. If one of them is stopped, the file remains open. */
void gfs_trace_close(gfs_trace *trace);

/* A number as text, for arguments of a trace. */
typedef struct gfs_decimal {
  char text[40];
} gfs_decimal;

/* A number with 1 to 9 places behind a point. printf writes a comma in some locales, which the
 * program may choose. Numbers beyond 10^9 become 10^9. */
gfs_decimal gfs_decimal_of(double value, unsigned places);

/* Write one line: seconds since `open`, the event, then the formatted text, which holds further
 * members of a JSON object and begins with a comma. Lines of several threads do not mix.
 * `format` comes from this library, its strings contain no quotes or backslashes, and its numbers
 * with a point are texts of gfs_decimal_of. */
#if defined(__GNUC__) || defined(__clang__)
__attribute__((format(printf, 3, 4)))
#endif
void gfs_trace_write(gfs_trace *trace, const char *event, const char *format, ...);

#endif
