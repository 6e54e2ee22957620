/* Folders as tar archives, by the program tar. */
#ifndef TOOL_ARCHIVE_H
#define TOOL_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct archive {
  pid_t child;
  int fd;             /* the archive: read from or written to the child; -1: closed */
  int errors;         /* the child's stderr, a file in memory */
  int names;          /* the paths that the child has extracted, in a file in memory */
  const char *folder; /* where the archive is extracted; NULL: it is made */
  const char *source; /* the folder of which it is made */
  bool watches;       /* tar fails if a file changes while it reads it */
  uint64_t state;     /* of the folder before */
} archive;

#define ARCHIVE_NONE ((archive){.child = -1, .fd = -1, .errors = -1, .names = -1})
/* Start tar; TOOL_REFUSED after a message. */
int archive_create(archive *tar, const char *folder);
int archive_extract(archive *tar, const char *folder);
/* Close the pipe and wait for tar. TOOL_REFUSED after a message with its first line, if it failed.
 * If it has made the archive, name the sockets that it has left out, and refuse a folder that has
 * changed meanwhile. If it has extracted one, refuse a folder in which names of the archive are one
 * file. */
int archive_finish(archive *tar);
/* End tar after a failure. */
void archive_abort(archive *tar);

/* Remove a folder and everything in it. */
void remove_folder(const char *folder);

#endif
