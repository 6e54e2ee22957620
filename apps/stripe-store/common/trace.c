#include "trace.h"

#include "files.h"
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct trace {
  FILE *file;
};

bool trace_open(trace **out, const char *folder, unsigned rank) {
  char path[FILES_PATH], name[16];
  *out = NULL;
  if (folder == NULL)
    return true;
  snprintf(name, sizeof name, "%u", rank);
  FILE *file = files_path(path, folder, name) ? fopen(path, "ae") : NULL;
  if (file == NULL) {
    report("--trace %s/%s: %s", folder, name, strerror(errno));
    return false;
  }
  if ((*out = malloc(sizeof **out)) == NULL)
    out_of_memory();
  setvbuf(file, NULL, _IOLBF, BUFSIZ);
  (*out)->file = file;
  return true;
}

void trace_close(trace *t) {
  if (t == NULL)
    return;
  if (fclose(t->file) != 0)
    report("--trace: %s", strerror(errno));
  free(t);
}

uint64_t trace_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static void line(trace *t, const char *format, ...) {
  va_list rest;
  if (t == NULL)
    return;
  va_start(rest, format);
  flockfile(t->file);
  fprintf(t->file, "%" PRIu64 " ", trace_now());
  vfprintf(t->file, format, rest);
  funlockfile(t->file);
  va_end(rest);
}

void trace_operation(trace *t, const gfsmith_trace *o) {
  line(t, "operation %" PRIu64 " %d %d %zu %" PRIu64 " %d\n", o->job, (int)o->primitive,
       (int)o->calculator, o->length, o->nanoseconds, o->status);
}

void trace_graph(trace *t, uint64_t job, const char *kind) {
  line(t, "graph %" PRIu64 " %s\n", job, kind);
}

void trace_read(trace *t, unsigned lost, uint64_t began) {
  line(t, "read %u %" PRIu64 "\n", lost, trace_now() - began);
}

void trace_write(trace *t, uint64_t began) { line(t, "write %" PRIu64 "\n", trace_now() - began); }
