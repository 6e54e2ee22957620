/* Folders as tar archives, by the program tar. */
#ifndef TOOL_ARCHIVE_H
#define TOOL_ARCHIVE_H

#include <sys/types.h>

typedef struct archive {
  pid_t child;
  int fd;     /* the archive: read from or written to the child; -1: closed */
  int errors; /* the child's stderr, a file in memory */
} archive;

/* Start tar; TOOL_REFUSED after a message. */
int archive_create(archive *tar, const char *folder);
int archive_extract(archive *tar, const char *folder);
/* Close the pipe and wait for tar. TOOL_REFUSED after a message with its first line, if it failed.
 */
int archive_finish(archive *tar);
/* End tar after a failure. */
void archive_abort(archive *tar);

/* Remove a folder and everything in it. */
void remove_folder(const char *folder);

#endif
