#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* clock_gettime, open */
#endif

#include "trace.h"

#include <signal.h>
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

#if defined(_WIN32)
static void write_without_signals(const char *line, size_t bytes, FILE *file) {
  fwrite(line, 1, bytes, file);
}
#else
/* A pipe without a reader, and the limit of the file size: both would end the program. */
static const int write_signals[] = {SIGPIPE, SIGXFSZ};

/* Take the signals that are pending now and were not before. */
static void take_signals(const sigset_t *before) {
  sigset_t now, one;
  int taken;
  sigpending(&now);
  for (unsigned i = 0; i < sizeof write_signals / sizeof write_signals[0]; i++) {
    if (!sigismember(&now, write_signals[i]) || sigismember(before, write_signals[i]))
      continue;
    sigemptyset(&one);
    sigaddset(&one, write_signals[i]);
    sigwait(&one, &taken);
  }
}

/* Write; a line that the file does not take is lost. */
static void write_without_signals(const char *line, size_t bytes, FILE *file) {
  sigset_t held, mask, pending;
  sigemptyset(&held);
  for (unsigned i = 0; i < sizeof write_signals / sizeof write_signals[0]; i++)
    sigaddset(&held, write_signals[i]);
  pthread_sigmask(SIG_BLOCK, &held, &mask);
  sigpending(&pending);
  if (fwrite(line, 1, bytes, file) < bytes)
    take_signals(&pending);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
#endif

gfs_decimal gfs_decimal_of(double value, unsigned places) {
  static const double most = 1e9;
  double size = value < 0 ? -value : value;
  unsigned long long unit = 1;
  for (unsigned n = 0; n < places; n++)
    unit *= 10;
  unsigned long long units = (unsigned long long)((size < most ? size : most) * (double)unit + 0.5);
  gfs_decimal made;
  snprintf(made.text, sizeof made.text, "%s%llu.%0*llu", value < 0 ? "-" : "", units / unit,
           (int)places, units % unit);
  return made;
}

static void write_line(const gfs_trace *trace, FILE *file, const char *event, const char *format,
                       va_list arguments) {
  char line[LINE_BYTES], rest[LINE_BYTES - 128];
  vsnprintf(rest, sizeof rest, format, arguments);
  gfs_decimal seconds = gfs_decimal_of((double)(gfs_clock_ns() - trace->start_ns) * 1e-9, 6);
  int used =
      snprintf(line, sizeof line, "{\"t\": %s, \"event\": \"%s\"%s}\n", seconds.text, event, rest);
  write_without_signals(line, (size_t)used, file);
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
