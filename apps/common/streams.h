/* The standard streams of a program that was started without one of them. */
#ifndef APPS_STREAMS_H
#define APPS_STREAMS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/* Occupy closed standard streams, so that no file gets the number of one: messages or results would
 * be written to that file. Reading and writing fail as before (EBADF). A program calls this before
 * it opens a file. False and errno: failed. */
static inline bool streams_occupy(void) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream)
      return false;
  return true;
}

#endif
