#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* clock_gettime, open */
#endif

#include "trace.h"

#include <stdarg.h>
#include <time.h>

#include "open_file.h"
#include "thread.h"

uint64_t gfs_clock_ns(void) {
  struct timespec now;
#if defined(CLOCK_MONOTONIC)
  clock_gettime(CLOCK_MONOTONIC, &now);
#else
  timespec_get(&now, TIME_UTC);
#endif
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Limit of a line, far above the lines of the library. */
enum { LINE_BYTES = 1536 };

bool gfs_trace_open(gfs_trace *trace, const char *file) {
  trace->process = gfs_threads_process();
  trace->start_ns = gfs_clock_ns();
  trace->file = file != NULL ? gfs_open_file(file, true) : NULL;
  if (trace->file != NULL)
    setvbuf(trace->file, NULL, _IONBF, 0); /* a child after fork() would write a buffer again */
  return file == NULL || trace->file != NULL;
}

void gfs_trace_close(gfs_trace *trace) {
  if (trace->file != NULL)
    fclose(trace->file);
  trace->file = NULL;
}

void gfs_trace_write(gfs_trace *trace, const char *event, const char *format, ...) {
  if (trace->file == NULL || trace->process != gfs_threads_process())
    return;
  char line[LINE_BYTES], rest[LINE_BYTES - 128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(rest, sizeof rest, format, arguments);
  va_end(arguments);
  double seconds = (double)(gfs_clock_ns() - trace->start_ns) * 1e-9;
  int used =
      snprintf(line, sizeof line, "{\"t\": %.6f, \"event\": \"%s\"%s}\n", seconds, event, rest);
  fwrite(line, 1, (size_t)used, trace->file);
}
