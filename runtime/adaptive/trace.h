/* trace.h: what is decided and why, as JSON lines. None of it is on the way of a call that is not
 * timed. */
#ifndef GFS_TRACE_H
#define GFS_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct gfs_trace {
  FILE *file; /* NULL: nothing is written */
  uint64_t start_ns;
} gfs_trace;

/* Begin a file anew. False if that cannot be done; nothing is written then. */
bool gfs_trace_open(gfs_trace *trace, const char *file);

void gfs_trace_close(gfs_trace *trace);

/* One line: seconds since `open`, the event, then what the format makes: more members of a JSON
 * object, beginning with a comma. Lines of several threads do not mix; each is written out at once.
 * `format` is of this library, its strings without quotes and backslashes. */
#if defined(__GNUC__) || defined(__clang__)
__attribute__((format(printf, 3, 4)))
#endif
void gfs_trace_write(gfs_trace *trace, const char *event, const char *format, ...);

/* A file's name or other text from outside as the inside of a JSON string: what is not printable
 * ASCII, quotes and backslashes become '?'; cut to size. Returns text. */
char *gfs_trace_safe(char *text, size_t size, const char *from);

#endif
