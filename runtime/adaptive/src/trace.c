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
/* A program that ends waits so long for a thread that writes a line: it may have been stopped. */
enum { CLOSE_NS = 100000000 };

bool gfs_trace_open(gfs_trace *trace, const char *file) {
  trace->process = gfs_threads_process();
  trace->start_ns = gfs_clock_ns();
  atomic_init(&trace->writers, 0);
  FILE *opened = file != NULL ? gfs_open_file(file, true) : NULL;
  if (opened != NULL)
    setvbuf(opened, NULL, _IONBF, 0); /* a child after fork() would write a buffer again */
  atomic_store(&trace->file, opened);
  return file == NULL || opened != NULL;
}

/* Wait for the threads that write a line; false if they need too long. The process that writes no
 * trace has none. */
static bool writers_are_done(gfs_trace *trace) {
  if (trace->process != gfs_threads_process())
    return true;
  uint64_t start = gfs_clock_ns();
  while (atomic_load(&trace->writers) != 0)
    if (gfs_clock_ns() - start > CLOSE_NS)
      return false;
  return true;
}

void gfs_trace_close(gfs_trace *trace) {
  FILE *file = atomic_exchange(&trace->file, NULL);
  if (file != NULL && writers_are_done(trace))
    fclose(file);
}

static void write_line(const gfs_trace *trace, FILE *file, const char *event, const char *format,
                       va_list arguments) {
  char line[LINE_BYTES], rest[LINE_BYTES - 128];
  vsnprintf(rest, sizeof rest, format, arguments);
  double seconds = (double)(gfs_clock_ns() - trace->start_ns) * 1e-9;
  int used =
      snprintf(line, sizeof line, "{\"t\": %.6f, \"event\": \"%s\"%s}\n", seconds, event, rest);
  fwrite(line, 1, (size_t)used, file);
}

void gfs_trace_write(gfs_trace *trace, const char *event, const char *format, ...) {
  if (atomic_load(&trace->file) == NULL || trace->process != gfs_threads_process())
    return;
  va_list arguments;
  va_start(arguments, format);
  atomic_fetch_add(&trace->writers, 1);
  FILE *file = atomic_load(&trace->file);
  if (file != NULL)
    write_line(trace, file, event, format, arguments);
  atomic_fetch_sub(&trace->writers, 1);
  va_end(arguments);
}
